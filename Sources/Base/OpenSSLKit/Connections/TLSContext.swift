// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The state that all connections of one listener or client share.
///
/// It is immutable.
///
/// A new certificate needs a new context, see ``TLSContextSource``. Existing connections keep their context. A session
/// is resumed only if ``TLSConfiguration/sessionScope``, the requested host and the policy for client certificates are
/// the same as in the first handshake. So a session never bypasses a check of another context or host.
public final class TLSContext: Sendable {
    private let main: SSLContext
    private let hosts: [SSLContext]

    /// The configuration of the context.
    public let configuration: TLSConfiguration

    /// Creates a context and checks the whole configuration.
    ///
    /// The validity period of certificates is not checked, because a context has no clock. See
    /// ``Certificate/checkValidity(at:)``.
    ///
    /// - Throws: ``OpenSSLError``. The code is `invalidConfiguration` for an invalid name of a protocol, suite or group,
    ///   for an empty list of trusted certificates, and for a key too weak for OpenSSL's security level 2 (112 bits). The
    ///   code is `invalidName` for a host name that is malformed or occurs twice. Otherwise it is `libraryFailure`.
    public init(_ configuration: TLSConfiguration) throws(OpenSSLError) {
        self.configuration = configuration
        switch configuration.role {
        case .client(let trust):
            main = try unsafe SSLContext(TLS_client_method(), data: CallbackData())
            hosts = []
            try ContextBuilder(main, configuration: configuration).applyClient(trust)
        case .server(let identity):
            main = try unsafe SSLContext(TLS_server_method(), data: CallbackData())
            let builder = ContextBuilder(main, configuration: configuration)
            try builder.applyServer(identity, names: [])
            var contexts: [SSLContext] = []
            var names = ServerNames<CallbackData.Host>()
            for host in configuration.hosts {
                guard !host.names.isEmpty else { throw OpenSSLError(.invalidName, context: "host without a name") }
                let sslContext = try unsafe SSLContext(TLS_server_method(), data: CallbackData())
                for name in host.names { try names.add(name, value: unsafe CallbackData.Host(sslContext.pointer)) }
                try ContextBuilder(sslContext, configuration: configuration)
                    .applyServer(host.identity, names: host.names)
                contexts.append(sslContext)
            }
            hosts = contexts
            builder.apply(names)
        }
    }

    /// Calls `body` with the SSL_CTX.
    ///
    /// `body` must not change or free the SSL_CTX.
    func withContext<R>(_ body: (OpaquePointer) throws(OpenSSLError) -> R) throws(OpenSSLError) -> R {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(main.pointer)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// The state that all connections of one listener or client share, immutable after it is made.
///
/// A new certificate needs a new context, see ``TLSContextSource``; existing connections keep their context. A session
/// is resumed only in the same scope: ``TLSConfiguration/sessionScope``, the requested host, and the rule for client
/// certificates. So a session never bypasses a check of another context or host.
public final class TLSContext: Sendable {
    private let main: ContextPart
    private let hosts: [ContextPart]

    /// The configuration of the context.
    public let configuration: TLSConfiguration

    /// Creates a context and checks the whole configuration.
    ///
    /// Expired certificates are accepted here, because there is no clock: see ``Certificate/checkValidity(at:)``.
    ///
    /// - Throws: ``OpenSSLError``: `invalidConfiguration` for a bad protocol, suite or group name, an empty trust or a
    ///   key too weak for OpenSSL's security level 2 (112 bits), `invalidName` for a host's name that is malformed or
    ///   occurs twice, `libraryFailure` otherwise.
    public init(_ configuration: TLSConfiguration) throws(OpenSSLError) {
        self.configuration = configuration
        switch configuration.role {
        case .client(let trust):
            main = try unsafe ContextPart(TLS_client_method(), data: ContextCallbacks())
            hosts = []
            try ContextBuilder(main, configuration: configuration).applyClient(trust)
        case .server(let identity):
            main = try unsafe ContextPart(TLS_server_method(), data: ContextCallbacks())
            let builder = ContextBuilder(main, configuration: configuration)
            try builder.applyServer(identity, names: [])
            var parts: [ContextPart] = []
            var names = ServerNames<ContextCallbacks.Host>()
            for host in configuration.hosts {
                guard !host.names.isEmpty else { throw OpenSSLError(.invalidName, context: "host without a name") }
                let part = try unsafe ContextPart(TLS_server_method(), data: ContextCallbacks())
                for name in host.names { try names.add(name, value: unsafe ContextCallbacks.Host(part.pointer)) }
                try ContextBuilder(part, configuration: configuration).applyServer(host.identity, names: host.names)
                parts.append(part)
            }
            hosts = parts
            builder.apply(names)
        }
    }

    /// Calls `body` with the SSL_CTX, which it must not change or free.
    func withContext<R>(_ body: (OpaquePointer) throws(OpenSSLError) -> R) throws(OpenSSLError) -> R {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(main.pointer)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// What all connections of one listener or client share, immutable after it is made.
///
/// Replacing a certificate is making a new context, see ``TLSContextSource``; connections hold on to the one they began
/// with. A session is resumed only where its scope is the same: ``TLSConfiguration/sessionScope``, the host that was asked
/// for, and what is asked of client certificates. So no session gets round a check that another context or host makes.
public final class TLSContext: Sendable {
    private let main: ContextPart
    private let hosts: [ContextPart]

    /// What the context was made of.
    public let configuration: TLSConfiguration

    /// Makes a context, checking all of the configuration.
    ///
    /// Certificates out of their dates are accepted here, because there is no clock here: see
    /// ``Certificate/checkValidity(at:)``.
    ///
    /// - Throws: ``OpenSSLError``: `invalidConfiguration` for a bad protocol, suite or group name, an empty trust or a key
    ///   too weak for OpenSSL's security level 2 (112 bits), `invalidName` for a host's name that is none or stands there
    ///   twice, `libraryFailure` otherwise.
    public init(_ configuration: TLSConfiguration) throws(OpenSSLError) {
        self.configuration = configuration
        switch configuration.role {
        case .client(let trust):
            main = try unsafe ContextPart(TLS_client_method(), CallbackData())
            hosts = []
            try ContextSettings(main, configuration).applyClient(trust)
        case .server(let identity):
            main = try unsafe ContextPart(TLS_server_method(), CallbackData())
            let settings = ContextSettings(main, configuration)
            try settings.applyServer(identity, names: [])
            var parts: [ContextPart] = []
            var names = ServerNames<CallbackData.Host>()
            for host in configuration.hosts {
                guard !host.names.isEmpty else { throw OpenSSLError(.invalidName, context: "host without a name") }
                let part = try unsafe ContextPart(TLS_server_method(), CallbackData())
                for name in host.names { try names.add(name, unsafe CallbackData.Host(part.pointer)) }
                try ContextSettings(part, configuration).applyServer(host.identity, names: host.names)
                parts.append(part)
            }
            hosts = parts
            settings.apply(names)
        }
    }

    /// Lends the SSL_CTX, which must not be changed or freed.
    func withContext<R>(_ body: (OpaquePointer) throws(OpenSSLError) -> R) throws(OpenSSLError) -> R {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(main.pointer)
    }
}

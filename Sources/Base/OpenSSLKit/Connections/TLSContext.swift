// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Synchronization

/// The immutable state that all connections of one listener or client share.
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
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` for an invalid name of a protocol, suite or group, for
    ///   an empty list of trusted certificates, and for a key below OpenSSL's security level 2 (112 bits); `invalidName`
    ///   for a host name that is malformed or occurs twice; otherwise `libraryFailure`.
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
                let target = unsafe CallbackData.Host(pointer: sslContext.pointer)
                for name in host.names { try names.add(name, value: target) }
                try ContextBuilder(sslContext, configuration: configuration)
                    .applyServer(host.identity, names: host.names)
                contexts.append(sslContext)
            }
            hosts = contexts
            builder.apply(names)
        }
    }

    /// Calls `body` with the SSL_CTX, which it must not change or free.
    func withContext<R>(_ body: (OpaquePointer) throws(OpenSSLError) -> R) throws(OpenSSLError) -> R {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(main.pointer)
    }
}

/// The context of new connections, which can be replaced while existing connections continue.
///
/// It can be used from any thread. A lock is held while a reference is copied.
public final class TLSContextSource: Sendable {
    private let context: Mutex<TLSContext>

    /// Creates a source.
    public init(_ context: TLSContext) { self.context = Mutex(context) }

    /// The context for a new connection.
    public var current: TLSContext { context.withLock { $0 } }

    /// Replaces the context of new connections, and returns the previous one.
    @discardableResult
    public func replace(with next: TLSContext) -> TLSContext {
        context.withLock { context in
            defer { context = next }
            return context
        }
    }
}

/// An SSL_CTX and the data of its callbacks.
@safe
final class SSLContext: @unchecked Sendable {
    // Unchecked because of the pointer. The SSL_CTX and its data are not changed after they are made.
    let pointer: OpaquePointer
    let data: CallbackData

    init(_ method: OpaquePointer?, data: CallbackData) throws(OpenSSLError) {
        ErrorQueue.clear()
        guard let context = unsafe SSL_CTX_new(method) else { throw .failed("TLS context") }
        unsafe pointer = context
        self.data = data
        // This object retains the data. Index 0 is reserved for the application (SSL_CTX_set_app_data(3)).
        guard unsafe SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(data).toOpaque()) == 1 else {
            throw .failed("TLS context")
        }
    }

    // No callback can run any more, because connections retain the TLSContext.
    deinit { unsafe SSL_CTX_free(pointer) }
}

/// Throws an error of OpenSSL about a setting unless a function has returned 1.
func check(_ result: Int32, _ setting: String) throws(OpenSSLError) {
    guard result == 1 else { throw .draining(.invalidConfiguration, context: setting) }
}

/// The data that the C callbacks of an SSL_CTX use.
@safe
final class CallbackData: @unchecked Sendable {
    // Unchecked because of the pointers to other contexts. One TLSContext owns all of them.
    /// The SSL_CTX of a ``TLSHost``, to which a connection switches if the client requests the host.
    @safe
    struct Host { let pointer: OpaquePointer }

    var applicationProtocols: [UInt8] = []
    var pinnedKeys: Set<Digest> = []
    /// The record for the key of a server; nil if servers may be accepted.
    var presentedKey: PresentedKey?
    /// True if the chain of a server with a pinned key is also verified.
    var verifiesChain = false
    var hosts = ServerNames<Host>()
    var ticketKeys: SessionTicketKeys?
    var clientCertificates: ClientCertificatePolicy.Mode?
    var sessionScope: [UInt8] = []
    var ocspResponse: OCSPResponse?

    /// Returns the data of an SSL_CTX, which exists because a connection retains its ``TLSContext``; nil without data.
    static func of(_ context: OpaquePointer?) -> CallbackData? { unsafe of(argument: SSL_CTX_get_ex_data(context, 0)) }

    /// Returns the data that a callback was registered with.
    static func of(argument: UnsafeMutableRawPointer?) -> CallbackData? {
        unsafe argument.map { unsafe Unmanaged<CallbackData>.fromOpaque($0).takeUnretainedValue() }
    }
}

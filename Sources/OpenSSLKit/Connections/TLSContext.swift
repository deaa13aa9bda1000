// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// What all connections of one listener or client share: an SSL_CTX, immutable after it is made.
///
/// Sessions are resumed within one context only: its session id context (SSL_CTX_set_session_id_context(3)) is
/// random, and the keys of its tickets are its own. Replacing a certificate is making a new context; connections hold
/// on to the one they began with.
@safe
public final class TLSContext: @unchecked Sendable {
    // Unchecked because of the pointers: nothing configures the SSL_CTX after init; its reference count and caches
    // are locked by OpenSSL, and the box is read only.
    private let context: OpaquePointer
    private let callbackData: Unmanaged<CallbackData>

    /// What the context was made of.
    public let configuration: TLSConfiguration

    /// What the C callbacks of a context read.
    final class CallbackData: Sendable {
        let applicationProtocols: [UInt8]
        let pinned: Set<Digest>

        init(applicationProtocols: [UInt8], pinned: Set<Digest>) {
            self.applicationProtocols = applicationProtocols
            self.pinned = pinned
        }
    }

    /// Makes a context, checking all of the configuration.
    ///
    /// Certificates out of their dates are accepted here, because there is no clock here: see
    /// ``Certificate/checkValidity(at:)``.
    ///
    /// - Throws: ``OpenSSLError``: `invalidConfiguration` for a bad protocol name, an empty trust or a key too weak for
    ///   OpenSSL's security level 2 (112 bits), `libraryFailure` otherwise.
    public init(_ configuration: TLSConfiguration) throws(OpenSSLError) {
        self.configuration = configuration
        let protocols = try Self.encode(configuration.applicationProtocols)
        ErrorQueue.clear()
        let method: OpaquePointer?
        var pinned: Set<Digest> = []
        switch configuration.role {
        case .server:
            unsafe method = TLS_server_method()
        case .client(let trust):
            unsafe method = TLS_client_method()
            if case .pinned(let digests) = trust { pinned = digests }
        }
        guard let context = unsafe SSL_CTX_new(method) else {
            throw .draining(.libraryFailure, context: "TLS context")
        }
        let data = unsafe Unmanaged.passRetained(CallbackData(applicationProtocols: protocols, pinned: pinned))
        do throws(OpenSSLError) {
            let settings = unsafe ContextSettings(context: context, callbackData: data.toOpaque())
            try settings.apply(configuration, applicationProtocols: protocols)
        } catch {
            unsafe SSL_CTX_free(context)
            unsafe data.release()
            throw error
        }
        unsafe self.context = context
        unsafe self.callbackData = data
    }

    // Connections retain this object, so no callback can come any more.
    deinit {
        unsafe SSL_CTX_free(context)
        unsafe callbackData.release()
    }

    /// Lends the SSL_CTX, which must not be changed or freed.
    func withContext<R>(_ body: (OpaquePointer) throws(OpenSSLError) -> R) throws(OpenSSLError) -> R {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(context)
    }

    /// Writes protocol names in the form of RFC 7301 3.1: each after a byte with its length.
    private static func encode(_ names: [String]) throws(OpenSSLError) -> [UInt8] {
        var list: [UInt8] = []
        for name in names {
            guard let length = UInt8(exactly: name.utf8.count), length > 0 else {
                throw OpenSSLError(.invalidConfiguration, context: "application protocol name \"\(name)\"")
            }
            list.append(length)
            list.append(contentsOf: name.utf8)
        }
        // The extension has two bytes for the length of the list.
        guard list.count < 65_536 else {
            throw OpenSSLError(.invalidConfiguration, context: "\(names.count) application protocol names")
        }
        return list
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The negotiated properties of a connection.
public struct TLSConnectionInfo: Sendable, Hashable {
    /// The version; nil before the handshake.
    public let version: TLSVersion?
    /// The cipher suite by its IANA name, such as "TLS_AES_128_GCM_SHA256"; nil before the handshake.
    public let cipherSuite: String?
    /// The application protocol (RFC 7301); nil if none was negotiated.
    public let applicationProtocol: String?
    /// True if a session was resumed, so that no certificate was sent on this connection.
    public let isResumed: Bool

    /// The server name of the client (RFC 6066 3), in lower case and without a dot at its end; nil without one.
    ///
    /// It is nil on a client. The name may be unknown to the server. A server with several names compares it with the
    /// Host field of requests (RFC 9110 15.5.20).
    public let serverName: String?

    init(of ssl: OpaquePointer, serverName: String?) {
        self.serverName = serverName
        switch unsafe SSL_version(ssl) {
        case TLS1_2_VERSION: version = .tls12
        case TLS1_3_VERSION: version = .tls13
        case _: version = nil
        }
        let cipher = unsafe SSL_get_current_cipher(ssl).flatMap { unsafe SSL_CIPHER_standard_name($0) }
        cipherSuite = unsafe cipher.map { unsafe String(cString: $0) }
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &start, &count)
        let selected = unsafe UnsafeBufferPointer(start: start, count: Int(count))
        applicationProtocol = selected.isEmpty ? nil : unsafe String(decoding: selected, as: UTF8.self)
        isResumed = unsafe SSL_session_reused(ssl) == 1
    }
}

extension TLSConnection {
    /// Returns the session of a client's connection; nil if it cannot be resumed.
    ///
    /// Later connections to the same server can resume the session. In TLS 1.3 the server sends the ticket after the
    /// handshake, so ``TLSConnection/read(_:into:)`` must be called first.
    public func session() -> TLSSession? {
        guard let session = unsafe withSSL({ unsafe SSL_get1_session($0) }) else { return nil }
        guard unsafe SSL_SESSION_is_resumable(session) == 1 else {
            unsafe SSL_SESSION_free(session)
            return nil
        }
        // The session is copied, because OpenSSL invalidates the original when its connection ends without
        // close_notify, when the session is resumed, or when a handshake with the session fails.
        let copy = unsafe SSL_SESSION_dup(session)
        unsafe SSL_SESSION_free(session)
        return unsafe copy.map { unsafe TLSSession(owning: $0) }
    }

    /// Makes a client's handshake request the resumption of a session; it must be called before the handshake.
    ///
    /// ``TLSConnectionInfo/isResumed`` is true if the server has resumed the session.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration`.
    public func resume(_ session: TLSSession) throws(OpenSSLError) {
        ErrorQueue.clear()
        // OpenSSL may invalidate the copy in the handshake. The caller can use the original again.
        let copy = unsafe SSL_SESSION_dup(session.session)
        defer { unsafe SSL_SESSION_free(copy) }
        guard unsafe copy != nil, unsafe withSSL({ unsafe SSL_set_session($0, copy) }) == 1 else {
            throw .draining(.invalidConfiguration, context: "TLS session")
        }
    }
}

/// A session that a client can resume (RFC 8446 2.2), which can be used from any thread.
@safe
public final class TLSSession: @unchecked Sendable {
    // Unchecked because of the pointer. The session is not changed after it was copied from its connection.
    let session: OpaquePointer

    init(owning session: OpaquePointer) { unsafe self.session = session }

    deinit { unsafe SSL_SESSION_free(session) }
}

// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

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

    /// Makes a client's handshake request the resumption of a session.
    ///
    /// It must be called before the handshake.
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

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

extension TLSConnection {
    /// Returns the session of a client's connection, which later connections to the same server can resume.
    ///
    /// Nil if there is nothing to resume: in TLS 1.3 the server's ticket comes after the handshake and must have been read.
    public func session() -> TLSSession? {
        guard let session = unsafe withSSL({ unsafe SSL_get1_session($0) }) else { return nil }
        guard unsafe SSL_SESSION_is_resumable(session) == 1 else {
            unsafe SSL_SESSION_free(session)
            return nil
        }
        // A copy, as OpenSSL invalidates a session in place: when its connection ends without close_notify, when it is
        // used, when a handshake with it fails.
        let copy = unsafe SSL_SESSION_dup(session)
        unsafe SSL_SESSION_free(session)
        return unsafe copy.map { unsafe TLSSession(owning: $0) }
    }

    /// Makes a client's handshake try to resume a session; call it before the handshake.
    ///
    /// ``TLSConnectionInfo/isResumed`` is true if the server has agreed.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration`.
    public func resume(_ session: TLSSession) throws(OpenSSLError) {
        ErrorQueue.clear()
        // A copy again, for the same reason: the caller may use the session once more.
        let copy = unsafe SSL_SESSION_dup(session.session)
        defer { unsafe SSL_SESSION_free(copy) }
        guard unsafe copy != nil, unsafe withSSL({ unsafe SSL_set_session($0, copy) }) == 1 else {
            throw .draining(.invalidConfiguration, context: "TLS session")
        }
    }
}

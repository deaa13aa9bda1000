// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// A session that a client may resume: keys and a ticket of its server (RFC 8446 2.2); usable from any thread.
@safe
public final class TLSSession: @unchecked Sendable {
    // Unchecked because of the pointer: the session is not changed after its connection has given it out.
    fileprivate let session: OpaquePointer

    fileprivate init(owning session: OpaquePointer) {
        unsafe self.session = session
    }

    deinit { unsafe SSL_SESSION_free(session) }

    /// Reads what ``der()`` has given; nil if it is no session; for tests.
    init?(der: [UInt8]) {
        ErrorQueue.clear()
        let session = unsafe der.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return unsafe d2i_SSL_SESSION(nil, &start, bytes.count)
        }
        ErrorQueue.clear()
        guard let session = unsafe session else { return nil }
        unsafe self.session = session
    }

    /// The session as bytes, with its keys; for tests.
    func der() -> [UInt8] {
        var der = [UInt8](repeating: 0, count: max(0, Int(unsafe i2d_SSL_SESSION(session, nil))))
        unsafe der.withUnsafeMutableBufferPointer { bytes in
            var start = bytes.baseAddress
            _ = unsafe i2d_SSL_SESSION(session, &start)
        }
        return der
    }

    /// What the server has given, as it gave it; for tests.
    var ticket: [UInt8] {
        var start: UnsafePointer<UInt8>?
        var count = 0
        unsafe SSL_SESSION_get0_ticket(session, &start, &count)
        return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// How many bytes may be sent before the handshake is done; for tests.
    var maximumEarlyData: UInt32 { unsafe SSL_SESSION_get_max_early_data(session) }
}

extension TLSConnection {
    /// The session of a client's connection, to be resumed by later ones to the same server.
    ///
    /// Nil if there is nothing to resume: in TLS 1.3 the server's ticket comes after the handshake and must have been read.
    public func session() -> TLSSession? {
        guard let session = unsafe withSSL({ unsafe SSL_get1_session($0) }) else { return nil }
        guard unsafe SSL_SESSION_is_resumable(session) == 1 else {
            unsafe SSL_SESSION_free(session)
            return nil
        }
        // A copy, as OpenSSL forgets a session by changing it in place: when its connection ends without a goodbye, when
        // it is used, when a handshake with it fails.
        let copy = unsafe SSL_SESSION_dup(session)
        unsafe SSL_SESSION_free(session)
        return unsafe copy.map { unsafe TLSSession(owning: $0) }
    }

    /// Makes a client's handshake, not begun yet, try to resume a session.
    ///
    /// Whether the server has agreed is told by ``TLSConnectionInfo/isResumed``.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration`.
    public func resume(_ session: TLSSession) throws(OpenSSLError) {
        ErrorQueue.clear()
        // A copy once more, for the same reason: what is given out may be offered again.
        let copy = unsafe SSL_SESSION_dup(session.session)
        defer { unsafe SSL_SESSION_free(copy) }
        guard unsafe copy != nil, unsafe withSSL({ unsafe SSL_set_session($0, copy) }) == 1 else {
            throw .draining(.invalidConfiguration, context: "TLS session")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import OpenSSLKit

/// A session that a client can resume (RFC 8446 2.2), which can be used from any thread.
@safe
package final class TLSSession: @unchecked Sendable {
    // Unchecked because of the pointer. The session is not changed after it was copied from its connection.
    package let session: OpaquePointer

    package init(owning session: OpaquePointer) { unsafe self.session = session }

    deinit { unsafe SSL_SESSION_free(session) }
}

extension TLSConnection {
    /// Returns the session of a client's connection; nil if it cannot be resumed.
    ///
    /// In TLS 1.3 the server sends the ticket after the handshake, so `read` must be called first.
    package func session() -> TLSSession? {
        guard let session = unsafe withSSL({ unsafe SSL_get1_session($0) }) else { return nil }
        defer { unsafe SSL_SESSION_free(session) }
        guard unsafe SSL_SESSION_is_resumable(session) == 1 else { return nil }
        // The session is copied, because OpenSSL invalidates the original when its connection ends without
        // close_notify, when the session is resumed, or when a handshake with the session fails.
        return unsafe SSL_SESSION_dup(session).map { unsafe TLSSession(owning: $0) }
    }

    /// Makes a client's handshake request the resumption of a session; it must be called before the handshake.
    package func resume(_ session: TLSSession) throws(OpenSSLError) {
        // OpenSSL may invalidate the copy in the handshake. The caller can use the original again.
        let copy = unsafe SSL_SESSION_dup(session.session)
        defer { unsafe SSL_SESSION_free(copy) }
        guard unsafe copy != nil, unsafe withSSL({ unsafe SSL_set_session($0, copy) }) == 1 else {
            throw OpenSSLError(.invalidConfiguration, context: "TLS session")
        }
    }
}

extension TLSConnection {
    /// Updates the key for encryption before the next write (RFC 8446 4.6.3), also that of the peer if it is asked.
    package func updateKeys(askingPeer: Bool) throws(OpenSSLError) {
        let type = askingPeer ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
        guard unsafe withSSL({ unsafe SSL_key_update($0, type) == 1 && SSL_do_handshake($0) == 1 }) else {
            throw OpenSSLError(.invalidConfiguration, context: "TLS key update")
        }
    }

    /// Limits the length of records to a number of bytes, 512 to 16,384.
    package func limitRecords(to count: Int) -> Bool {
        unsafe withSSL { unsafe gatehouse_SSL_set_max_send_fragment($0, count) == 1 }
    }
}

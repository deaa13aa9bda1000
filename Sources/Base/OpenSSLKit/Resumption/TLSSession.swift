// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A session that a client can resume (RFC 8446 2.2).
///
/// It can be used from any thread.
@safe
public final class TLSSession: @unchecked Sendable {
    // Unchecked because of the pointer. The session is not changed after it was copied from its connection.
    let session: OpaquePointer

    init(owning session: OpaquePointer) {
        unsafe self.session = session
    }

    deinit { unsafe SSL_SESSION_free(session) }

    /// Reads a session in the form of ``der()``; nil if it cannot be read.
    ///
    /// Only tests use it.
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

    /// Returns the session with its keys in DER form.
    ///
    /// Only tests use it.
    func der() -> [UInt8] {
        var der = [UInt8](repeating: 0, count: max(0, Int(unsafe i2d_SSL_SESSION(session, nil))))
        unsafe der.withUnsafeMutableBufferPointer { bytes in
            var start = bytes.baseAddress
            _ = unsafe i2d_SSL_SESSION(session, &start)
        }
        return der
    }

    /// The ticket of the server.
    ///
    /// Only tests use it.
    var ticket: [UInt8] {
        var start: UnsafePointer<UInt8>?
        var count = 0
        unsafe SSL_SESSION_get0_ticket(session, &start, &count)
        return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// The maximum number of bytes of early data.
    ///
    /// Only tests use it.
    var maximumEarlyData: UInt32 { unsafe SSL_SESSION_get_max_early_data(session) }
}

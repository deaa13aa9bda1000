// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import TLSTesting

@testable import OpenSSLKit

/// The parts of connections and sessions that only tests need.
extension TLSConnection {
    /// Returns the certificate of the peer; nil if the peer has sent no certificate.
    func peerCertificate() throws -> Certificate? {
        guard let x509 = unsafe withSSL({ unsafe SSL_get1_peer_certificate($0) }) else { return nil }
        return try unsafe Certificate(owning: x509, context: "certificate of the peer")
    }
}

extension TLSSession {
    /// Reads a session in the form of ``der()``; nil if it cannot be read.
    convenience init?(der: [UInt8]) {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let session = unsafe der.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return unsafe d2i_SSL_SESSION(nil, &start, bytes.count)
        }
        guard let session = unsafe session else { return nil }
        unsafe self.init(owning: session)
    }

    /// Returns the session with its keys in DER form.
    func der() -> [UInt8] { unsafe derForm { unsafe i2d_SSL_SESSION(session, $0) } ?? [] }

    /// The ticket of the server.
    var ticket: [UInt8] {
        var start: UnsafePointer<UInt8>?
        var count = 0
        unsafe SSL_SESSION_get0_ticket(session, &start, &count)
        return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// The maximum number of bytes of early data.
    var maximumEarlyData: UInt32 { unsafe SSL_SESSION_get_max_early_data(session) }
}

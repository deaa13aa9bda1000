// SPDX-License-Identifier: Apache-2.0

import Foundation
import OpenSSLKit
import TLSTesting

/// The current time in seconds since 1970-01-01 00:00 UTC.
///
/// The certificates must be valid now, because other programs check them against the system clock.
var secondsNow: Int64 { Int64(Date().timeIntervalSince1970) }

func localIdentity() throws -> TLSIdentity {
    let made = try SelfSignedCertificate.make(
        dnsNames: ["localhost"],
        ipAddresses: ["127.0.0.1", "::1"],
        validFor: 30,
        now: secondsNow
    )
    return try TLSIdentity(certificateChain: [made.certificate], privateKey: made.key)
}

extension PrivateKey {
    func pemText() throws -> String {
        try withPEM { bytes throws(OpenSSLError) in
            String(decoding: (0..<bytes.count).map { bytes[$0] }, as: UTF8.self)
        }
    }
}

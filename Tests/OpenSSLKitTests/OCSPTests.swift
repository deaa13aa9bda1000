// SPDX-License-Identifier: Apache-2.0

import TLSTesting
import Testing

@testable import OpenSSLKit

@Suite(.enabled(if: TestPKI.isPossible, "needs the openssl command"))
struct OCSPTests {
    let pki: TestPKI

    init() throws {
        pki = try TestPKI.shared.get()
    }

    @Test func `a valid OCSP response is accepted, and the end of its validity is read`() throws {
        let identity = try pki.identity("server", ocsp: "server.ocsp")
        let next = try #require(identity.ocspResponse?.nextUpdate)
        #expect(abs(next - secondsNow - 7 * 86_400) < 3_600)
    }

    @Test func `an OCSP response is refused if it is for another certificate, has a bad status, or is truncated`()
        throws
    {
        let leaf = try pki.certificates("server")[0]
        let revoked = try pki.certificates("revoked")[0]
        let good = try pki.bytes("server.ocsp")
        #expect(throws: OpenSSLError(.rejectedOCSPResponse, context: "")) {
            try OCSPResponse(der: pki.bytes("other.ocsp"), for: leaf, name: "x")
        }
        let error = #expect(throws: OpenSSLError(.rejectedOCSPResponse, context: "")) {
            try OCSPResponse(der: pki.bytes("revoked.ocsp"), for: revoked, name: "x")
        }
        #expect(error?.context.contains("revoked") == true)
        for bytes in [[], Array(good.dropLast()), good + [0], Array("text".utf8)] {
            #expect(throws: OpenSSLError(.malformedOCSPResponse, context: "")) {
                try OCSPResponse(der: bytes, for: leaf, name: "x")
            }
        }
        // A response of status tryLater (RFC 6960 4.2.1), which contains no certificate status.
        let later = #expect(throws: OpenSSLError(.rejectedOCSPResponse, context: "")) {
            try OCSPResponse(der: [0x30, 3, 0x0a, 1, 3], for: leaf, name: "x")
        }
        #expect(later?.context.contains("trylater") == true)
    }
}

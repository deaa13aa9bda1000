// SPDX-License-Identifier: Apache-2.0

import Foundation
import OpenSSLKit
import Testing

@testable import SignIn

struct IdentityKeyTests {
    /// A private key with the public key of RFC 7515 appendix A.3.
    static let published = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49
        AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b
        focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
        -----END EC PRIVATE KEY-----
        """

    static func key(_ pem: String = published) throws -> IdentityKey {
        try IdentityKey(SigningKey(PrivateKey(pem: Array(pem.utf8), name: "key.pem"), name: "key.pem"))
    }

    @Test func `the thumbprint is that of RFC 9449 section 6_1 for its key`() throws {
        let x = "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"
        let y = "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"
        #expect(try IdentityKey.thumbprint(x: x, y: y) == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }

    @Test func `the set has the public keys in order, and no private key`() throws {
        let (first, second) = (try Self.key(), try IdentityKey(SigningKey(.makeP256(), name: "")))
        let data = Data(IdentityKeySet([first, second]).json.utf8)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [[String: String]]])
        #expect(Array(object.keys) == ["keys"])
        let keys = try #require(object["keys"])
        #expect(keys.map { $0["kid"] } == [first.id, second.id])
        for key in keys {
            #expect(Set(key.keys) == ["kty", "crv", "x", "y", "use", "alg", "kid"])
            #expect(key["kty"] == "EC" && key["crv"] == "P-256" && key["use"] == "sig" && key["alg"] == "ES256")
        }
        #expect(keys[0]["x"] == "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
        #expect(keys[0]["y"] == "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
        #expect(first.id != second.id)
    }
}

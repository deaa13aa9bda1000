// SPDX-License-Identifier: Apache-2.0

import Bytes
import OpenSSLKit
import Testing

@Suite struct VerificationKeyTests {
    // RFC 7515 appendix A.3.
    private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    private static let message =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let signature =
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    /// The order of the group of P-256 (FIPS 186-4 D.1.2.3).
    private static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

    private static func bytes(_ text: String) throws -> [UInt8] { try #require(Base64.url.decode(text)) }

    private static func key() throws -> VerificationKey { try VerificationKey(x: bytes(x), y: bytes(y)) }

    @Test func `the signature of RFC 7515 appendix A3 is valid, and no changed one`() throws {
        let (key, signature, message) = (try Self.key(), try Self.bytes(Self.signature), Array(Self.message.utf8))
        #expect(try key.verifies(signature.span, of: message.span))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 0x80
            #expect(try !key.verifies(changed.span, of: message.span), "byte \(index)")
        }
        let shorter = Array(message.dropLast())
        #expect(try !key.verifies(signature.span, of: shorter.span))
        for length in [0, 1, 32, 63, 65, 70, 128] {
            let other = Array((signature + signature).prefix(length))
            #expect(try !key.verifies(other.span, of: message.span), "\(length) bytes")
        }
    }

    /// CVE-2022-21449: a library accepted 0 for both numbers, for every message and key.
    @Test func `a signature whose numbers are 0, the order of the group or larger is not valid`() throws {
        let (key, message) = (try Self.key(), Array(Self.message.utf8))
        let order = try #require(Hexadecimal.decode(Self.order))
        let numbers = [
            [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 31) + [1], order,
            [UInt8](repeating: 0xFF, count: 32),
        ]
        for r in numbers {
            for s in numbers {
                let signature = r + s
                #expect(try !key.verifies(signature.span, of: message.span), "\(r), \(s)")
            }
        }
    }

    @Test func `it verifies the signatures of the signing key with these coordinates only`() throws {
        let (signing, other) = (try SigningKey(.makeP256(), name: "a"), try SigningKey(.makeP256(), name: "b"))
        let key = try VerificationKey(x: signing.x, y: signing.y)
        for length in 0..<50 {
            let message = [UInt8](repeating: 7, count: length)
            let (mine, foreign) = (try signing.signature(of: message.span), try other.signature(of: message.span))
            #expect(try key.verifies(mine.span, of: message.span))
            #expect(try !key.verifies(foreign.span, of: message.span))
        }
    }

    @Test func `a point that is not on the curve, or whose coordinates have another length, is no key`() throws {
        let (x, y) = (try Self.bytes(Self.x), try Self.bytes(Self.y))
        let zero = [UInt8](repeating: 0, count: 32)
        let wrong = [
            (x, x), (y, x), (zero, zero), (x, zero), (x, [UInt8](repeating: 0xFF, count: 32)), (x, Array(y.dropLast())),
            (x, y + [0]), (Array(x.dropLast()), [0] + y), ([], []),
        ]
        for (x, y) in wrong {
            let error = #expect(throws: OpenSSLError.self) { try VerificationKey(x: x, y: y) }
            #expect(error?.code == .notP256)
        }
    }
}

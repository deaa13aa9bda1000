// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import Testing

@Suite struct CryptographyTests {
    // The examples of FIPS 180-4 (NIST, SHA256.pdf), and the empty message.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-256 gives the published digests`(message: String, hex: String) throws {
        #expect(try Digest.sha256(Array(message.utf8)).hex == hex)
    }

    // The test cases 4.2, 4.4 and 4.7 of RFC 4231. The key of case 4.3 is too short for HMACKey.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `HMAC-SHA-256 gives the tags of RFC 4231`(key: [UInt8], message: [UInt8], hex: String) throws {
        let hmac = try HMACKey(key.span)
        #expect(try hmac.tag(message.span).hex == hex)
        // A key can be used several times.
        #expect(try hmac.tag(message.span).hex == hex)
    }

    @Test func `the HMACs of an empty message and a zero byte differ, and short keys are refused`() throws {
        let hmac = try HMACKey([UInt8](repeating: 7, count: 32).span)
        let empty: [UInt8] = []
        let zero: [UInt8] = [0]
        #expect(try hmac.tag(empty.span) != hmac.tag(zero.span))
        #expect(throws: OpenSSLError(.invalidConfiguration, context: "")) {
            try HMACKey([UInt8](repeating: 7, count: 15).span)
        }
    }

    @Test func `random bytes have the requested length, and differ`() throws {
        #expect(try RandomBytes.make(0).isEmpty)
        #expect(try RandomBytes.make(16) != RandomBytes.make(16))
        #expect(try RandomBytes.make(1_000).count == 1_000)
        #expect(throws: OpenSSLError.self) { try RandomBytes.make(-1) }
    }

    @Test func `constantTimeEqual returns the same as ==`() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
    }

    @Test func `digests of different messages differ, and have 32 bytes`() throws {
        let digest = try Digest.sha256([1])
        #expect(digest == (try Digest.sha256([1])))
        #expect(digest != (try Digest.sha256([2])))
        #expect(digest.bytes.count == Digest.byteCount)
        #expect(digest.fingerprint.split(separator: ":").count == 32)
    }
}

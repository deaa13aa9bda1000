// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import Testing

@Suite struct DerivationTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The vectors of RFC 6070 (SHA-1) and of RFC 7914 section 11 (SHA-256).
    @Test(arguments: [
        (HashFunction.sha1, "password", "salt", 1, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
        (.sha1, "password", "salt", 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
        (.sha1, "password", "salt", 4096, "4b007901b765489abead49d926f721d065a429c1"),
        (
            .sha1, "passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALTsalt", 4096,
            "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"
        ),
        (.sha1, "pass\u{0}word", "sa\u{0}lt", 4096, "56fa6aa75548099dcc37d7f03425e0c3"),
        (
            .sha256, "passwd", "salt", 1,
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
                + "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
        ),
        (
            .sha256, "Password", "NaCl", 80000,
            "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
                + "a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"
        ),
    ])
    func `PBKDF2 derives the keys of the RFCs`(
        function: HashFunction,
        password: String,
        salt: String,
        iterations: Int,
        expected: String
    ) throws {
        var key = [UInt8](repeating: 0, count: expected.utf8.count / 2)
        var span = key.mutableSpan
        let (password, salt) = (Array(password.utf8), Array(salt.utf8))
        try PasswordDerivation.pbkdf2(
            password.span,
            salt: salt.span,
            function: function,
            iterations: iterations,
            into: &span
        )
        #expect(hex(key) == expected)
    }

    /// The vectors of RFC 7914 section 12.
    @Test(arguments: [
        (
            "", "", UInt64(16), UInt64(1), UInt64(1),
            "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
        ),
        (
            "password", "NaCl", 1024, 8, 16,
            "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
        ),
        (
            "pleaseletmein", "SodiumChloride", 16384, 8, 1,
            "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
        ),
    ])
    func `scrypt derives the keys of the RFC`(
        password: String,
        salt: String,
        n: UInt64,
        r: UInt64,
        p: UInt64,
        expected: String
    ) throws {
        var key = [UInt8](repeating: 0, count: 64)
        var span = key.mutableSpan
        let (password, salt) = (Array(password.utf8), Array(salt.utf8))
        try PasswordDerivation.scrypt(
            password.span,
            salt: salt.span,
            n: n,
            r: r,
            p: p,
            maximumMemory: 1 << 25,
            into: &span
        )
        #expect(hex(key) == expected)
    }

    @Test func `scrypt throws for more memory than its limit and for invalid parameters`() {
        let bytes = Array("password".utf8)
        for (n, r, p) in [(1 << 14, 8, 1), (15, 8, 1), (0, 8, 1), (16, 0, 1)] as [(UInt64, UInt64, UInt64)] {
            var key = [UInt8](repeating: 0, count: 64)
            var span = key.mutableSpan
            var failed = false
            do {
                try PasswordDerivation.scrypt(
                    bytes.span,
                    salt: bytes.span,
                    n: n,
                    r: r,
                    p: p,
                    maximumMemory: 1 << 20,
                    into: &span
                )
            } catch {
                failed = error.code == .libraryFailure
            }
            #expect(failed)
        }
    }

    /// The vectors of "abc" in RFC 1321 A.5 and FIPS 180-4, hashed in pieces.
    @Test(arguments: [
        (HashFunction.md5, "900150983cd24fb0d6963f7d28e17f72"),
        (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (.sha384, "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"),
        (
            .sha512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
    ])
    func `digests match the standards, also if a Hashing is used a second time`(
        function: HashFunction,
        expected: String
    ) throws {
        let pieces = ["a", "", "bc"].map { Array($0.utf8) }
        var digest = [UInt8](repeating: 0, count: function.byteCount)
        var span = digest.mutableSpan
        var hashing = try Hashing(function)
        for _ in 0..<2 {
            for piece in pieces { try hashing.append(piece.span) }
            try hashing.finish(into: &span)
        }
        #expect(hex(digest) == expected)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import OpenSSLKit
import Testing

@Suite struct SigningKeyTests {
    /// The key of RFC 7515 appendix A.3.
    private static let published = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49
        AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b
        focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
        -----END EC PRIVATE KEY-----
        """
    /// The private key of ``published`` with the public key of RFC 9449 section 6.1.
    private static let mismatched = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49
        AwEHoUQDQgAEl8tFrhx+34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFv1UTiN/86T
        +jrjNtNOVy40lqMea3q/1MNWtTQJ28ZEMA==
        -----END EC PRIVATE KEY-----
        """
    private static let message =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let signature =
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    private func key(_ pem: String = published) throws -> SigningKey {
        try SigningKey(PrivateKey(pem: Array(pem.utf8), name: "key.pem"), name: "key.pem")
    }

    @Test func `the coordinates of the public key are those of RFC 7515 appendix A3`() throws {
        let key = try key()
        #expect(key.x == Base64.url.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
        #expect(key.y == Base64.url.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
    }

    @Test func `the signature of RFC 7515 appendix A3 is valid, and no changed one`() throws {
        let key = try key()
        let signature = try #require(Base64.url.decode(Self.signature))
        let message = Array(Self.message.utf8)
        #expect(try key.verifies(signature.span, of: message.span))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(try !key.verifies(changed.span, of: message.span), "byte \(index)")
        }
        #expect(try !key.verifies(signature.span, of: Array(message.dropLast()).span))
        #expect(try !key.verifies(Array(signature.dropLast()).span, of: message.span))
        #expect(try !key.verifies((signature + [0]).span, of: message.span))
        let zero = [UInt8](repeating: 0, count: 64)
        #expect(try !key.verifies(zero.span, of: message.span))
    }

    @Test func `a signature has 64 bytes, is valid for its message and key, and differs each time`() throws {
        let (key, other) = (try key(), try SigningKey(.makeP256(), name: "other.pem"))
        var seen: Set<[UInt8]> = []
        // About one of 128 numbers begins with a zero byte, which DER leaves out.
        for length in 0..<400 {
            let message = [UInt8](repeating: 7, count: length)
            let signature = try key.signature(of: message.span)
            #expect(signature.count == 64)
            #expect(try key.verifies(signature.span, of: message.span))
            #expect(try !other.verifies(signature.span, of: message.span))
            seen.insert(signature)
        }
        #expect(seen.count == 400)
    }

    @Test func `a public key that does not belong to the private key is an error`() {
        let error = #expect(throws: OpenSSLError.self) { try key(Self.mismatched) }
        #expect(error?.code == .malformedPrivateKey)
        #expect(error?.description.contains("the public key in the file does not belong to the private key") == true)
    }

    @Test(
        .enabled(if: Tool.isInstalled(Tool.openssl), "openssl is not installed"),
        arguments: [
            ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], ["-algorithm", "ED25519"],
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"],
        ]
    )
    func `a key of another kind or on another curve is an error`(arguments: [String]) throws {
        let (status, pem) = try Tool.run(Tool.openssl, ["genpkey", "-quiet"] + arguments)
        // OpenSSL before 3.5 has no option -quiet, and prints progress only to the terminal or before the key.
        let made = status == 0 ? pem : try Tool.run(Tool.openssl, ["genpkey"] + arguments).output
        let error = #expect(throws: OpenSSLError.self) { try key(made) }
        #expect(error?.description == "private key file key.pem: the key is not an EC key on the curve P-256")
    }

    @Test(.enabled(if: Tool.isInstalled(Tool.openssl), "openssl is not installed"))
    func `keys of all PEM forms are read, and openssl verifies their signatures`() throws {
        let message = Array("message".utf8)
        let commands = [
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            ["ecparam", "-name", "prime256v1", "-genkey"],
            ["ecparam", "-name", "prime256v1", "-genkey", "-conv_form", "compressed"],
        ]
        for command in commands {
            let pem = try Tool.run(Tool.openssl, command).output
            let key = try key(pem)
            let signature = try key.signature(of: message.span)
            try Tool.withFolder { folder in
                func path(_ name: String, _ bytes: [UInt8]) throws -> String {
                    let file = folder.appendingPathComponent(name)
                    try Data(bytes).write(to: file)
                    return file.path
                }
                let keyPath = try path("key.pem", Array(pem.utf8))
                let arguments = ["-prverify", keyPath, "-signature", try path("der", der(signature))]
                let verified = try Tool.run(
                    Tool.openssl,
                    ["dgst", "-sha256"] + arguments + [try path("message", message)]
                )
                #expect(verified.status == 0 && verified.output.contains("Verified OK"), "\(command)")
            }
        }
    }

    /// Returns the DER form of a signature.
    private func der(_ signature: [UInt8]) -> [UInt8] {
        let numbers = [signature.prefix(32), signature.suffix(32)].map { number -> [UInt8] in
            var bytes = Array(number.drop { $0 == 0 })
            if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
            return [0x02, UInt8(bytes.count)] + bytes
        }
        let body = numbers.flatMap(\.self)
        return [0x30, UInt8(body.count)] + body
    }
}

// SPDX-License-Identifier: Apache-2.0

import Bytes
import OpenSSLKit
import RealmKit
import SignIn
import Testing

@testable import GatehouseClient

/// Tokens of attackers, and tokens that the key has signed but that no server makes (RFC 8725).
struct TokenAttackTests {
    private let signer: TestSigner

    init() throws { signer = try TestSigner() }

    private func code(_ token: String) async throws -> TokenRejection.Code? {
        let result = try await signer.verifier().verify(token)
        #expect(result.user == nil)
        return result.code
    }

    @Test func `the token that the others are made from is accepted`() async throws {
        #expect(try await signer.verifier().verify(signer.sign()).user == TestSigner.user())
    }

    @Test(arguments: [
        "none", "None", "nOnE", "", "HS256", "HS384", "RS256", "PS256", "ES384", "ES512", "ES256K", "EdDSA", "es256",
        "ES256 ",
        "ES256\\u0000",
    ])
    func `another algorithm is rejected, whatever the signature is`(algorithm: String) async throws {
        let header = #"{"alg":"\#(algorithm)","kid":"\#(signer.key.id)","typ":"JWT"}"#
        #expect(try await code(signer.sign(header: header)) == .algorithm)
        let unsigned = TestSigner.encode(header) + "." + TestSigner.encode(TestSigner.claims())
        #expect(try await code(unsigned + ".") == .algorithm)
        #expect(try await code(unsigned) == .malformed)
    }

    /// The public key as the secret of an HMAC (CVE-2015-9235), in the forms in which libraries had it.
    @Test func `a tag with the public key as its secret is no signature`() async throws {
        for secret in [signer.json, signer.signing.x, signer.signing.x + signer.signing.y, Array(signer.key.id.utf8)] {
            let key = try HMACKey(secret.span)
            for algorithm in ["HS256", "ES256"] {
                let header = #"{"alg":"\#(algorithm)","kid":"\#(signer.key.id)","typ":"JWT"}"#
                let message = TestSigner.encode(header) + "." + TestSigner.encode(TestSigner.claims())
                let tag = try key.tag(message.utf8Span.span).bytes
                for signature in [tag, tag + tag] {
                    let token = message + "." + Base64.url.encode(signature.span)
                    #expect(try await code(token) == (algorithm == "HS256" ? .algorithm : .signature))
                }
            }
        }
    }

    @Test func `a key in the token is not used`() async throws {
        let attacker = try TestSigner()
        let jwk = String(decoding: attacker.json.dropFirst(9).dropLast(2), as: UTF8.self)
        let fields = [
            #""jwk":\#(jwk)"#, #""jku":"https://attacker.example/jwks.json""#,
            #""x5u":"https://attacker.example/a.pem""#,
            #""x5c":["MIIB"]"#,
        ]
        for field in fields {
            for (id, expected) in [(signer.key.id, TokenRejection.Code.signature), (attacker.key.id, .unknownKey)] {
                let header = #"{"alg":"ES256","kid":"\#(id)","typ":"JWT",\#(field)}"#
                #expect(try await code(attacker.sign(header: header)) == expected)
            }
        }
    }

    @Test func `the signature of another key, or of other bytes, is rejected`() async throws {
        let other = try TestSigner()
        #expect(try await code(other.sign(header: signer.header)) == .signature)
        #expect(try await code(other.sign()) == .unknownKey)
        let (first, second) = (try signer.sign(), try signer.token(for: TestSigner.user("root")))
        let parts = (first.split(separator: "."), second.split(separator: "."))
        #expect(try await code("\(parts.0[0]).\(parts.1[1]).\(parts.0[2])") == .signature)
        #expect(try await code("\(parts.0[0]).\(parts.0[1]).\(parts.1[2])") == .signature)
    }

    @Test func `every changed, missing or further byte is noticed`() async throws {
        let token = Array(try signer.sign().utf8)
        let verifier = try signer.verifier()
        for index in token.indices {
            // The bits of the last character that no byte has must be zero, so that there is one spelling.
            for mask in [1, 2, 0x20] as [UInt8] {
                var changed = token
                changed[index] ^= mask
                #expect(await verifier.verify(changed).code != nil, "byte \(index)")
            }
            #expect(await verifier.verify(Array(token[..<index])).code != nil, "\(index) bytes")
        }
        for byte in UInt8.min...UInt8.max {
            #expect(await verifier.verify(token + [byte]).code != nil)
            #expect(await verifier.verify([byte] + token).code != nil)
        }
    }

    @Test(arguments: ["=", "==", " ", "\n", "\r\n", "\0", ".", ".x", "+", "/", "Ä", ", x"])
    func `nothing may follow a part`(text: String) async throws {
        let parts = try signer.sign().split(separator: ".").map(String.init)
        for index in parts.indices {
            var changed = parts
            changed[index] += text
            #expect(try await code(changed.joined(separator: ".")) == .malformed)
        }
    }

    @Test func `a signature of another length or form is rejected`() async throws {
        let token = try signer.sign()
        let dot = try #require(token.lastIndex(of: "."))
        let (message, signature) = (token[..<dot], try #require(Base64.url.decode(token[token.index(after: dot)...])))
        // The signature in DER (RFC 3279), as other protocols have it.
        func integer(_ number: ArraySlice<UInt8>) -> [UInt8] {
            let positive = number.first.map { $0 >= 0x80 } == true ? [0] + number : Array(number)
            return [0x02, UInt8(positive.count)] + positive
        }
        let numbers = integer(signature[..<32]) + integer(signature[32...])
        let der = [0x30, UInt8(numbers.count)] + numbers
        let others = [
            Array(signature.dropLast()), Array(signature.dropFirst()), signature + [0], [0] + signature,
            signature + signature,
            [], [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xFF, count: 64), der,
        ]
        for other in others {
            #expect(try await code("\(message).\(Base64.url.encode(other.span))") == .signature, "\(other)")
        }
    }

    @Test func `a huge token is rejected before it is read`() async throws {
        let groups = #"["\#(String(repeating: "a", count: IdentityTokenVerifier.maximumBytes))"]"#
        #expect(try await code(signer.sign(claims: TestSigner.claims(["groups": groups]))) == .malformed)
        #expect(try await code(String(repeating: "A", count: 5_000_000)) == .malformed)
        #expect(try await code(String(repeating: ".", count: IdentityTokenVerifier.maximumBytes)) == .malformed)
    }

    @Test func `a header that is not one of the server is rejected`() async throws {
        let id = signer.key.id
        let headers = [
            "", "{}x", #"{"alg":"ES256","kid":"\#(id)"}"#, #"{"alg":"ES256","kid":"\#(id)","typ":"at+jwt"}"#,
            #"{"alg":"ES256","kid":"\#(id)","typ":["JWT"]}"#, #"{"alg":"ES256","typ":"JWT"}"#,
            #"{"alg":"ES256","kid":"","typ":"JWT"}"#, #"{"alg":"ES256","kid":7,"typ":"JWT"}"#,
            #"{"alg":"ES256","kid":"\#(id)","typ":"JWT","crit":["b64"],"b64":false}"#,
            #"{"alg":"ES256","alg":"none","kid":"\#(id)","typ":"JWT"}"#,
            #"{"alg":"none","\u0061lg":"ES256","kid":"\#(id)","typ":"JWT"}"#,
            #"{"alg":"ES256","kid":"x","kid":"\#(id)","typ":"JWT"}"#,
            #"{"alg":"ES256","kid":"\#(id)","typ":"JWT","a":\#(String(repeating: "[", count: 4000))"#,
            "{" + (0..<30).map { "\"\($0)\":0," }.joined() + String(signer.header.dropFirst()),
        ]
        for header in headers {
            #expect(try await code(signer.sign(header: header)) == .malformed, "\(header)")
        }
        for header in ["{}", "[]", "null"] { #expect(try await code(signer.sign(header: header)) == .algorithm) }
        #expect(try await code(signer.sign(header: signer.header.replacing(id, with: id.uppercased()))) == .unknownKey)
    }

    private static let wrongClaims: [(String, String?)] = [
        ("iss", nil), ("iss", "7"), ("iss", "null"), ("iss", #"["https://auth.example.com"]"#), ("aud", nil),
        ("aud", "null"),
        ("aud", #"["app.example.com"]"#), ("aud", #"["app.example.com","wiki.example.com"]"#), ("aud", "true"),
        ("exp", nil), ("exp", "null"), ("exp", #""1800000060""#), ("exp", "1e400"), ("exp", "1800000060.5"),
        ("exp", "[]"),
        ("iat", nil), ("iat", #""1800000000""#), ("nbf", #""x""#), ("preferred_username", nil),
        ("preferred_username", "7"),
        ("preferred_username", #""""#), ("preferred_username", #"" ann""#), ("preferred_username", #""a\u0000""#),
        ("realm", nil), ("realm", #""""#), ("realm", #"["people"]"#), ("groups", nil), ("groups", #""Staff""#),
        ("groups", #"["Staff",7]"#), ("groups", #"{"0":"Staff"}"#), ("groups", #"[["Staff"]]"#), ("name", "7"),
        ("email", #"["a@b"]"#), ("email", #""a\nb""#), ("x", "{"), ("x", #""\ud800""#),
        ("x", #""a","aud":"app.example.com""#),
    ]

    @Test(arguments: wrongClaims)
    func `claims that no server makes are rejected although they are signed`(name: String, value: String?) async throws
    {
        #expect(try await code(signer.sign(claims: TestSigner.claims([name: value]))) == .malformed)
    }

    @Test(arguments: [
        ("iss", #""https://auth.example.com/""#, TokenRejection.Code.issuer),
        ("iss", #""https://AUTH.example.com""#, .issuer),
        ("iss", #""https://auth.example.com\u0000""#, .issuer), ("aud", #""App.example.com""#, .audience),
        ("aud", #""app.example.com.""#, .audience), ("aud", #""https://app.example.com""#, .audience),
        ("aud", #""app.example.com:443""#, .audience), ("aud", #""""#, .audience), ("exp", "0", .expired),
        ("exp", "-9223372036854775808", .expired), ("exp", "1799999990", .expired), ("iat", "1800000011", .notYetValid),
        ("iat", "9223372036854775807", .notYetValid), ("nbf", "1800000011", .notYetValid),
    ])
    func `signed claims for others or for another time are rejected`(
        name: String,
        value: String,
        expected: TokenRejection.Code
    ) async throws {
        #expect(try await code(signer.sign(claims: TestSigner.claims([name: value]))) == expected)
    }

    @Test func `the text for the log has no bytes of an unsigned token and is one line`() async throws {
        let evil = "a\\nFORGED"
        let tokens = [
            try signer.sign(claims: TestSigner.claims(["aud": "\"\(evil)\""])),
            try signer.sign(claims: TestSigner.claims(["preferred_username": "\"\(evil)\""])),
            try TestSigner().sign(header: #"{"alg":"ES256","kid":"\#(evil)","typ":"JWT"}"#), "FORGED.FORGED.FORGED",
        ]
        for token in tokens {
            guard case .rejected(let rejection) = try await signer.verifier().verify(token) else {
                Issue.record("a token was accepted")
                continue
            }
            #expect(!rejection.description.contains("\n"))
            #expect(!rejection.description.contains("FORGED") || rejection.code == .audience)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Bytes
import OpenSSLKit
import SignIn
import Testing

@testable import GatehouseClient

/// Key sets (RFC 7517) of servers and of others.
struct VerificationKeysTests {
    // RFC 7515 appendix A.3.
    private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    /// The EC key of RFC 7517 appendix A.1, which is for encryption.
    private static let published = """
        {"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",\
        "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","use":"enc","kid":"1"}
        """

    /// A key whose members are replaced; nil leaves one out.
    private static func key(_ changes: [String: String?] = [:]) -> String {
        var members: [String: String?] = [
            "kty": #""EC""#, "crv": #""P-256""#, "x": "\"\(x)\"", "y": "\"\(y)\"", "kid": #""a""#,
        ]
        for (name, value) in changes { members[name] = .some(value) }
        let texts = members.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return "{" + texts.joined(separator: ",") + "}"
    }

    private static func ids(_ set: String) throws -> [String] {
        try VerificationKeys.read(Array(set.utf8)).keys.map(\.string).sorted()
    }

    @Test func `the keys of a server are found by their ids`() throws {
        let keys = [try TestSigner().key, try TestSigner().key]
        #expect(try Self.ids(IdentityKeySet(keys).json) == keys.map(\.id).sorted())
    }

    @Test func `the key verifies the signature of RFC 7515 appendix A3`() throws {
        let keys = try VerificationKeys.read(Array(#"{"keys":[\#(Self.key())]}"#.utf8))
        let message =
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let signature = try #require(
            Base64.url.decode("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
        )
        #expect(try keys["a"]?.verifies(signature.span, of: message.utf8Span.span) == true)
    }

    @Test func `keys for other algorithms or uses are ignored, with the set of RFC 7517 appendix A1`() throws {
        let rsa =
            #"{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECP","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#
        let set = #"{"keys":[\#(Self.published),\#(rsa)]}"#
        #expect(throws: GatehouseClientError.self) { try Self.ids(set) }
        #expect(try Self.ids(#"{"keys":[\#(Self.published),\#(rsa),\#(Self.key()),{}]}"#) == ["a"])
    }

    private static let unusable: [[String: String?]] = [
        ["kid": nil], ["kid": "7"], ["kty": #""OKP""#], ["kty": nil], ["kty": #""oct""#, "k": #""AAAA""#],
        ["crv": #""P-384""#], ["crv": #""secp256k1""#], ["crv": nil], ["use": #""enc""#], ["use": #"["sig"]"#],
        ["alg": #""ES384""#], ["alg": #""ECDH-ES""#], ["alg": "7"], ["x": nil], ["y": nil], ["x": "\"\(y)\""],
        ["y": "\"\(x)\""], ["x": "\"\(x)=\""], ["x": "\"A\(x)\""], ["x": #""""#], ["y": "7"],
        [
            "x": #""AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA""#,
            "y": #""AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA""#,
        ],
    ]

    @Test(arguments: unusable)
    func `a key that cannot verify ES256 is none, and a set without one is an error`(changes: [String: String?]) throws
    {
        #expect(throws: GatehouseClientError.self) { try Self.ids(#"{"keys":[\#(Self.key(changes))]}"#) }
        let other = Self.key(["kid": #""b""#, "use": #""sig""#, "alg": #""ES256""#])
        #expect(try Self.ids(#"{"keys":[\#(Self.key(changes)),\#(other)]}"#) == ["b"])
    }

    @Test func `a text that is no key set, two keys of one id, and a repeated member are errors`() {
        let key = Self.key()
        let sets = [
            "", "{}", "[]", "null", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[\#(key),\#(key)]}"#,
            #"{"keys":[\#(key)],"keys":[\#(key)]}"#, #"{"keys":[\#(key)]}x"#, #"{"keys":[\#(key)]"#, "[\(key)]",
            #"{"keys":[\#(Self.key(["kty": #""EC","kty":"EC""#]))]}"#,
            #"{"keys":[\#(key)],"x":"\#(String(repeating: "a", count: 65_536))"}"#,
        ]
        for set in sets { #expect(throws: GatehouseClientError.self, "\(set)") { try Self.ids(set) } }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import OpenSSLKit
import RealmKit
import Testing

@testable import SignIn

struct IdentityTokenSignerTests {
    private let key: IdentityKey

    init() throws { key = try IdentityKeyTests.key() }

    private func token(
        _ name: String = "ann",
        realm: String = "people",
        groups: [String] = [],
        attributes: [UserAttribute] = []
    ) throws -> String {
        let user = SignedInUser(
            realm: realm,
            username: try Username(name),
            groups: groups,
            attributes: attributes
        )
        return try IdentityTokenSigner(key).token(
            for: user,
            issuer: "https://auth.example.org",
            audience: "wiki.example.org",
            at: 1_800_000_000
        )
    }

    private func part(_ index: Int, of token: String) throws -> [UInt8] {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        try #require(parts.count == 3)
        return try #require(Base64.url.decode(parts[index]))
    }

    private func claims(_ token: String) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(try part(1, of: token)))
        return try #require(object as? [String: Any])
    }

    @Test func `the header names ES256 and the thumbprint of the key`() throws {
        let header = String(decoding: try part(0, of: token()), as: UTF8.self)
        #expect(header == #"{"alg":"ES256","kid":"\#(key.id)","typ":"JWT"}"#)
    }

    @Test func `the claims are those of the user, and the token is valid for a minute`() throws {
        let attributes = [
            try UserAttribute(name: "mail", values: ["ann@example.org", "a@example.org"]),
            try UserAttribute(name: "displayName", values: ["Ann Ä"]),
        ]
        let text = String(
            decoding: try part(1, of: token(groups: ["Staff", "Night shift"], attributes: attributes)),
            as: UTF8.self
        )
        let expected =
            #"{"iss":"https://auth.example.org","sub":"people/ann","aud":"wiki.example.org","iat":1800000000,"#
            + #""exp":1800000060,"preferred_username":"ann","realm":"people","groups":["Staff","Night shift"],"#
            + #""name":"Ann Ä","email":"ann@example.org"}"#
        #expect(text == expected)
    }

    @Test func `a user without attributes has no name and no email`() throws {
        let claims = try claims(token())
        #expect(claims["name"] == nil && claims["email"] == nil)
        #expect(claims["groups"] as? [String] == [])
    }

    @Test func `the signature is valid for exactly this token and this key`() throws {
        let token = try token()
        let dot = try #require(token.lastIndex(of: "."))
        let signed = Array(token[..<dot].utf8)
        let signature = try part(2, of: token)
        #expect(try key.key.verifies(signature.span, of: signed.span))
        for index in signed.indices {
            var changed = signed
            changed[index] ^= 1
            #expect(try !key.key.verifies(signature.span, of: changed.span), "byte \(index)")
        }
        let other = try SigningKey(.makeP256(), name: "other.pem")
        #expect(try !other.verifies(signature.span, of: signed.span))
    }

    @Test(arguments: [
        #"","admin":true,"x":""#, #"a"b"#, #"\"#, #"\""#, #"\u0022"#, "a,b", "[]", "{}", "Ärzte", "e\u{301}", "日本",
        "\u{1F600}", "</script>", "\u{2028}", "\u{7F}", "\u{1}\u{1F}", "\n", "\t", "\0",
    ])
    func `metacharacters of JSON in a group stay in the group`(group: String) throws {
        let text = try token(groups: ["first", group, "last"])
        let claims = try claims(text)
        let groups = try #require(claims["groups"] as? [String])
        #expect(groups.count == 3 && Array(groups[1].utf8) == Array(group.utf8))
        #expect(
            Set(claims.keys) == ["iss", "sub", "aud", "iat", "exp", "preferred_username", "realm", "groups"]
        )
    }

    @Test func `two users of different realms never have the same subject`() throws {
        let users = [
            ("a", "b/c"), ("a/b", "c"), ("a%2Fb", "c"), ("a", "b%2Fc"), ("", "a/b/c"), ("\u{C4}", "x"),
            ("A\u{308}", "x"),
        ]
        let subjects = try users.map { try #require(try claims(token($0.1, realm: $0.0))["sub"] as? String) }
        #expect(Set(subjects.map { Array($0.utf8) }).count == users.count)
        #expect(subjects[0] == "a/b/c" && subjects[1] == "a%2Fb/c")
    }
}

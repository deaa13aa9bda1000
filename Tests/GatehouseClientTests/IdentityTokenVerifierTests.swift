// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import RealmKit
import Testing

@testable import GatehouseClient

/// Tokens that the code of the server has signed.
struct IdentityTokenVerifierTests {
    private let signer: TestSigner

    init() throws { signer = try TestSigner() }

    @Test func `a token gives the user of the server, with groups and attributes`() async throws {
        let user = try TestSigner.user(
            "ann@town.example",
            realm: "my realm",
            groups: ["Staff", "Night shift", "a,b", "Ärzte", "e\u{301}", "</script>", "\u{1F600}", "\n"],
            attributes: [
                try UserAttribute(name: "displayName", values: ["Ann Ä"]),
                try UserAttribute(name: "mail", values: ["ann@town.example"]),
            ]
        )
        let found = try #require(try await signer.verifier().verify(signer.token(for: user)).user)
        #expect(found == user)
        #expect(found.groups.map { Array($0.utf8) } == user.groups.map { Array($0.utf8) })
        #expect(found.isMember(of: "Staff") && !found.isMember(of: "\u{E9}"))
    }

    @Test func `a user of many groups fits into a token`() async throws {
        let user = try TestSigner.user(groups: (0..<500).map { "group-\($0)" })
        #expect(try await signer.verifier().verify(signer.token(for: user)).user == user)
    }

    private static let times: [(Int, TokenRejection.Code?)] = [
        (-1_000_000, .notYetValid), (-11, .notYetValid), (-10, nil), (0, nil), (59, nil), (69, nil), (70, .expired),
        (1_000_000, .expired),
    ]

    @Test(arguments: times)
    func `a token is valid for a minute, and ten seconds are allowed for the clocks`(
        later: Int,
        code: TokenRejection.Code?
    ) async throws {
        let result = try await signer.verifier(at: TestSigner.time + later).verify(signer.token())
        #expect(result.code == code && (result.user != nil) == (code == nil))
    }

    @Test func `a token of another issuer, or for another application, is rejected, and the log names it`() async throws
    {
        let verifier = try signer.verifier()
        let audience = try await verifier.verify(signer.token(audience: "wiki.example.com"))
        #expect(audience.code == .audience)
        let issuer = try await verifier.verify(signer.token(issuer: "https://auth.example.org"))
        #expect(issuer.code == .issuer)
        guard case .rejected(let rejection) = audience else { return }
        #expect(rejection.description == #"the audience is "wiki.example.com""#)
    }

    @Test func `an empty field is no token`() async throws {
        #expect(try await signer.verifier().verify("").code == .missing)
    }

    @Test(arguments: [
        ("https://auth.example.com", "app.example.com", true), ("https://auth.example:8443", "app", true),
        ("https://[::1]", "[::1]", true), ("auth.example.com", "app", false), ("http://auth.example.com", "app", false),
        ("https://auth.example.com/", "app", false), ("https://auth.example.com/gatehouse", "app", false),
        ("https://AUTH.example.com", "app", false), ("https://auth.example.com:443", "app", false), ("", "app", false),
        ("https://a", "", false), ("https://a", "https://app", false), ("https://a", "app:8443", false),
        ("https://a", "app:443", false), ("https://a", "App", false), ("https://a", "app/", false),
        ("https://a", "app/x", false), ("https://a", "app?x", false), ("https://a", "u@app", false),
    ])
    func `an issuer or audience that no token has is an error`(issuer: String, audience: String, isValid: Bool) throws {
        let keys = try VerificationKeys(json: signer.json)
        func make() throws { _ = try IdentityTokenVerifier(keys: keys, issuer: issuer, audience: audience) }
        if isValid { try make() } else { #expect(throws: GatehouseClientError.self) { try make() } }
    }
}

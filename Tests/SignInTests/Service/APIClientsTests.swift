// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import RealmConfiguration
import RealmKit
import TLSTesting
import Testing

@testable import SignIn

/// The credentials of programs: tokens, certificates and networks.
@Suite(.enabled(if: TestPKI.isPossible, "the openssl command is not installed"))
struct APIClientsTests {
    private static let token = "7c0f1f1ea8b5d3c5a1e29d6b54d2f0a9"

    private let certificate: Certificate
    private let other: Certificate
    private let authority: Certificate

    init() throws {
        let pki = try TestPKI.shared.get()
        authority = try #require(try pki.certificates("root").first)
        certificate = try #require(try pki.certificates("client").first)
        other = try #require(try pki.certificates("direct").first)
    }

    private func client(
        _ name: String,
        token: String? = nil,
        keys: [Digest] = [],
        subjects: [String] = []
    ) throws -> RealmAPISettings.Client {
        var client = RealmAPISettings.Client(name: name, realms: ["people"])
        client.tokens = try token.map { [try Digest.sha256(Array($0.utf8))] } ?? []
        client.certificateKeys = keys
        client.certificateSubjects = subjects
        return client
    }

    private func result(
        _ clients: [RealmAPISettings.Client],
        token: String? = nil,
        certificate: Certificate? = nil,
        from address: String? = "192.0.2.7",
        at now: Int64? = nil
    ) async -> String {
        let field = token.map { "Bearer \($0)" }
        let bearer = field.map { BearerToken($0.utf8Span.span, count: 1) } ?? .missing
        let chain = certificate.map { [$0, authority] } ?? []
        let now = Int(now ?? max(certificate?.notBefore ?? 0, authority.notBefore))
        let credentials = APICredentials(token: bearer, certificateChain: chain)
        switch await APIClients(clients, throttle: nil).authenticate(credentials, from: address, at: now) {
        case .client(let client): return client.name
        case .unknown(let reason): return "unknown: \(reason)"
        case .forbidden(let client, let reason): return "\(client.name): \(reason)"
        }
    }

    @Test func `a program without a token is found by the key or the subject of its certificate`() async throws {
        let byKey = try client("by-key", keys: [try certificate.publicKeyDigest()])
        let bySubject = try client("by-subject", subjects: ["CN=direct"])
        let clients = [byKey, bySubject]
        #expect(await result(clients, certificate: certificate) == "by-key")
        #expect(await result(clients, certificate: other) == "by-subject")
        #expect(await result(clients) == "unknown: no-token")
        #expect(await result([byKey], certificate: other) == "unknown: unknown-certificate")
        #expect(
            await result([try client("x", subjects: ["CN=dir"])], certificate: other) == "unknown: unknown-certificate"
        )
        // A wrong token is wrong even with a right certificate.
        #expect(await result(clients, token: "wrong", certificate: certificate) == "unknown: wrong-token")
    }

    @Test func `a program with a token and a certificate needs both`() async throws {
        let both = [try client("both", token: Self.token, subjects: ["CN=client"])]
        #expect(await result(both, token: Self.token, certificate: certificate) == "both")
        #expect(await result(both, token: Self.token) == "both: wrong-certificate")
        #expect(await result(both, token: Self.token, certificate: other) == "both: wrong-certificate")
        #expect(await result(both, certificate: certificate) == "unknown: unknown-certificate")
    }

    @Test func `a certificate is refused after it has expired, also on an open connection`() async throws {
        let alone = [try client("alone", keys: [try certificate.publicKeyDigest()])]
        let both = [try client("both", token: Self.token, subjects: ["CN=client"])]
        let end = min(certificate.notAfter, authority.notAfter)
        #expect(await result(alone, certificate: certificate, at: end) == "alone")
        #expect(await result(both, token: Self.token, certificate: certificate, at: end) == "both")
        let begin = max(certificate.notBefore, authority.notBefore)
        for now in [begin - 1, end + 1] {
            #expect(await result(alone, certificate: certificate, at: now) == "unknown: unknown-certificate")
            #expect(
                await result(both, token: Self.token, certificate: certificate, at: now) == "both: wrong-certificate"
            )
        }
    }

    @Test func `a program with networks is refused if its address is not known or in another network`() async throws {
        var inner = try client("inner", token: Self.token)
        inner.networks = [try .init("10.0.0.0/8"), try .init("::1")]
        #expect(await result([inner], token: Self.token, from: "10.9.8.7") == "inner")
        #expect(await result([inner], token: Self.token, from: "::ffff:10.9.8.7") == "inner")
        #expect(await result([inner], token: Self.token, from: "::1") == "inner")
        #expect(await result([inner], token: Self.token, from: "11.0.0.1") == "inner: wrong-network")
        #expect(await result([inner], token: Self.token, from: nil) == "inner: wrong-network")
        #expect(await result([inner], token: Self.token, from: "10.9.8.7:1") == "inner: wrong-network")
    }

    @Test func `one of two tokens is enough, so that a token can be changed`() async throws {
        var client = try client("mail", token: Self.token)
        client.tokens.append(try Digest.sha256(Array("the next token".utf8)))
        #expect(await result([client], token: Self.token) == "mail")
        #expect(await result([client], token: "the next token") == "mail")
    }

    @Test func `the digest of a public key is the one that the openssl command computes`() throws {
        // openssl x509 -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256
        let pki = try TestPKI.shared.get()
        let key = try certificate.publicKeyDigest()
        #expect(try pki.publicKeyDigest("client") == key.hex)
        #expect(try certificate.publicKeyDigest() != other.publicKeyDigest())
    }

    @Test(arguments: [
        ("Bearer", "unusable"), ("Bearer ", "unusable"), ("bearer abc", "digest"), ("BEARER   abc", "digest"),
        ("Bearerabc", "missing"), ("Basic abc", "missing"), ("", "missing"), ("Bear", "missing"),
        ("Bearer \(String(repeating: "a", count: 513))", "unusable"),
    ])
    func `the scheme is compared without regard to case, and a token has at most 512 bytes`(
        field: String,
        expected: String
    ) {
        let kind =
            switch BearerToken(field.utf8Span.span, count: 1) {
            case .missing: "missing"
            case .digest: "digest"
            case .unusable: "unusable"
            }
        #expect(kind == expected)
    }
}

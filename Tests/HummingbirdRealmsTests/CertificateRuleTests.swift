// SPDX-License-Identifier: Apache-2.0

import AccessControl
import Foundation
import Hummingbird
import HummingbirdRealms
import OpenSSLKit
import RealmConfiguration
import RealmKit
import TLSTesting
import Testing

/// Client certificates as credentials of an application over TLS.
@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct CertificateRuleTests {
    private static let realms = """
        login cards { CertificateLoginModule required; }
        realm cards { class CertificateRealm; jaas-context cards; name-from common-name; }
        protect /card { realm cards; auth certificate; require user client; }
        protect /any { realm cards people; auth certificate basic; require any; }
        """

    private static func fixture(_ pki: TestPKI, proxies: String = "") async throws -> RealmsFixture {
        let authority = pki.file("root.pem").path
        return try await RealmsFixture(
            rules: realms,
            server: "tls { client-certificates optional; client-ca \"\(authority)\"; client-depth 2; } \(proxies)"
        )
    }

    private static func router(_ fixture: RealmsFixture) -> Router<RealmsFixture.Context> {
        let router = Router(context: RealmsFixture.Context.self)
        router.add(middleware: SignInPages(fixture.realms))
        router.add(middleware: ProtectedByRules(fixture.realms))
        router.get("**") { _, context in context.user?.username.text ?? "" }
        return router
    }

    private func status(_ connection: LiveConnection, _ path: String, _ fields: [String] = []) async throws -> String {
        let head = try await connection.request("GET \(path)", fields)
        let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        let count = length.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
        let body = await connection.read(bytes: count)
        let status = head.split(separator: " ").dropFirst().first ?? ""
        return status == "200" ? "200 \(body)" : String(status)
    }

    @Test func `a rule accepts the certificate of its connection, and of no other connection`() async throws {
        let pki = try TestPKI.shared.get()
        let fixture = try await Self.fixture(pki)
        try await LiveServer.run(fixture, Self.router(fixture)) { server in
            let plain = try await server.connect()
            let client = try await server.connect(try pki.identity("client"))
            let direct = try await server.connect(try pki.identity("direct"))
            for _ in 0..<2 {
                #expect(try await status(client, "/card") == "200 client")
                #expect(try await status(plain, "/card") == "403")
                #expect(try await status(direct, "/card") == "403")
                #expect(try await status(direct, "/any") == "200 direct")
                #expect(try await status(plain, "/any") == "401")
            }
            #expect(try await status(client, "/other") == "403")
            for connection in [plain, client, direct] { try await connection.close() }
        }
    }

    @Test func `a certificate is used only for the host of the TLS handshake`() async throws {
        let pki = try TestPKI.shared.get()
        let fixture = try await Self.fixture(pki)
        try await LiveServer.run(fixture, Self.router(fixture)) { server in
            let client = try await server.connect(try pki.identity("client"))
            #expect(try await client.request("GET /card", host: "LOCALHOST.:8443").hasPrefix("HTTP/1.1 200"))
            try await client.close()
            for host in ["other.test", "localhost.other.test", "[::1]"] {
                let client = try await server.connect(try pki.identity("client"))
                #expect(try await client.request("GET /card", host: host).hasPrefix("HTTP/1.1 421"), "\(host)")
                try await client.close()
            }
        }
    }

    @Test func `the certificate of a trusted proxy is not a credential`() async throws {
        let pki = try TestPKI.shared.get()
        let fixture = try await Self.fixture(pki, proxies: "trusted-proxies 127.0.0.1;")
        try await LiveServer.run(fixture, Self.router(fixture)) { server in
            let client = try await server.connect(try pki.identity("client"))
            #expect(try await status(client, "/card") == "403")
            #expect(try await status(client, "/any") == "401")
            try await client.close()
        }
    }

    @Test func `an authenticator accepts certificates only if its schemes contain certificate`() async throws {
        let pki = try TestPKI.shared.get()
        let fixture = try await Self.fixture(pki)
        let router = Router(context: RealmsFixture.Context.self)
        router.add(middleware: try RealmAuthenticator(fixture.realms, in: ["cards"], schemes: [.certificate]))
        router.get("/card") { _, context in try context.requireUser().username.text }
        router.group("basic").add(middleware: try RealmAuthenticator(fixture.realms, in: ["cards"], schemes: [.basic]))
            .get { _, context in try context.requireUser().username.text }
        try await LiveServer.run(fixture, router) { server in
            let client = try await server.connect(try pki.identity("client"))
            #expect(try await status(client, "/card") == "200 client")
            #expect(try await status(client, "/basic") == "401")
            try await client.close()
            let plain = try await server.connect()
            #expect(try await status(plain, "/card") == "403")
            try await plain.close()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import HTTPServer
import HTTPTypes
import OpenSSLKit
import RealmTesting
import SignIn
import Testing

@testable import AccessControl
@testable import Gatehouse
@testable import SignIn

/// Tests of the identity tokens in the responses to forward-auth requests.
@Suite struct IdentityTokenTests {
    private static let rules = """
        default-realm town;
        login town { StartWithLoginModule required; }
        realm town { class StartWithRealm; jaas-context town; startWith z; }
        protect app.example/       { auth form basic; require any; }
        protect app.example/open   { open; }
        protect app.example/zed    { auth form; require user zed; }
        protect wiki.example/      { auth form basic; require any; }
        protect *.below.example/   { auth basic; require any; }
        """
    private static let server = """
        server { listen 127.0.0.1:0; trusted-proxies 127.0.0.1; identity-token { key a.pem; } }

        """
    private static let basic = "Authorization: Basic emVkOng="

    private let clock = ManualClock(now: 1_000_000_000_000)
    private let key: SigningKey
    private let pem: [UInt8]

    init() throws {
        let made = try PrivateKey.makeP256()
        key = try SigningKey(made, name: "a.pem")
        var bytes: [UInt8] = []
        try made.withPEM { pem throws(OpenSSLError) in
            for index in pem.indices { bytes.append(pem[index]) }
        }
        pem = bytes
    }

    private func makeServer(_ settings: String = server) throws -> TestServer {
        try TestServer(settings + Self.rules, clock: clock, files: ["a.pem": pem])
    }

    private func check(
        _ client: TestClient,
        _ url: String = "https://app.example/",
        _ fields: [String] = []
    ) async throws -> ParsedResponse {
        let usual = ["X-Original-URL: \(url)", "X-Original-Method: GET", "X-Forwarded-For: 192.0.2.7"]
        return try await client.send("GET", "/auth/nginx", usual + fields)
    }

    /// Verifies a token and returns its claims.
    private func claims(_ token: String?, by key: SigningKey? = nil) throws -> [String: Any] {
        let parts = try #require(token).split(separator: ".", omittingEmptySubsequences: false)
        try #require(parts.count == 3)
        let signature = try #require(Base64.url.decode(parts[2]))
        let isValid = try (key ?? self.key).verifies(signature.span, of: Array("\(parts[0]).\(parts[1])".utf8).span)
        try #require(isValid)
        let object = try JSONSerialization.jsonObject(with: Data(try #require(Base64.url.decode(parts[1]))))
        return try #require(object as? [String: Any])
    }

    @Test func `a user with a session gets a token for the host of the request`() async throws {
        let client = TestClient(try makeServer(), at: "app.example")
        _ = try await client.signIn("zed")
        let claims = try claims(try await check(client)["remote-token"])
        #expect(claims["iss"] as? String == "https://app.example")
        #expect(claims["aud"] as? String == "app.example")
        #expect(claims["sub"] as? String == "town/zed")
        #expect(claims["preferred_username"] as? String == "zed")
        #expect(claims["groups"] as? [String] == ["User"])
        #expect(claims["iat"] as? Int == 1_800_001_000 && claims["exp"] as? Int == 1_800_001_060)
    }

    @Test func `with a sign-in host, the sign-in host is the issuer`() async throws {
        let settings = """
            server { listen 127.0.0.1:0; trusted-proxies 127.0.0.1; identity-token { key a.pem; }
                     sign-in { host auth.example:8443; } }

            """
        let client = TestClient(try makeServer(settings), at: "app.example")
        let claims = try claims(try await check(client, fields: [Self.basic])["remote-token"])
        #expect(claims["iss"] as? String == "https://auth.example:8443" && claims["aud"] as? String == "app.example")
    }

    private func check(_ client: TestClient, fields: [String]) async throws -> ParsedResponse {
        try await check(client, "https://app.example/", fields)
    }

    @Test func `one request never gets the token of another host`() async throws {
        let client = TestClient(try makeServer())
        for _ in 0..<2 {
            for host in ["app.example", "wiki.example", "a.below.example", "b.below.example", "app.example"] {
                for url in ["https://\(host)/", "https://\(host.uppercased()):8443/x?y"] {
                    let claims = try claims(try await check(client, url, [Self.basic])["remote-token"])
                    #expect(claims["aud"] as? String == host && claims["iss"] as? String == "https://\(host)")
                }
            }
        }
    }

    @Test func `a token is sent again for 15 seconds, and then replaced`() async throws {
        let client = TestClient(try makeServer(), at: "app.example")
        _ = try await client.signIn("zed")
        let first = try #require(try await check(client)["remote-token"])
        clock.advance(by: .seconds(14))
        #expect(try await check(client)["remote-token"] == first)
        clock.advance(by: .seconds(1))
        let second = try #require(try await check(client)["remote-token"])
        #expect(second != first)
        #expect(try claims(second)["iat"] as? Int == 1_800_001_015)
        for _ in 0..<200 {
            clock.advance(by: .seconds(1))
            let now = Int(1_800_000_000 + clock.now / 1_000_000_000)
            let claims = try claims(try await check(client)["remote-token"])
            let (begin, end) = (try #require(claims["iat"] as? Int), try #require(claims["exp"] as? Int))
            #expect(begin <= now && now + 45 <= end)
        }
    }

    @Test func `a token that was made before the clock was set back is not sent again`() throws {
        let response = PreparedResponse(RenderedResponse(.ok))
        let cached = TokenResponse(response, for: "app.example", at: 1000)
        #expect((1000...1014).allSatisfy { cached.isCurrent(for: "app.example", at: $0) })
        #expect(![999, 0, 1015, 2000].contains { cached.isCurrent(for: "app.example", at: $0) })
        #expect(!cached.isCurrent(for: "wiki.example", at: 1000))
    }

    @Test func `after a sign-out, and for another user of the same browser, no earlier token is sent`() async throws {
        let client = TestClient(try makeServer(), at: "app.example")
        _ = try await client.signIn("zed")
        let first = try await check(client)["remote-token"]
        _ = try await client.signIn("zoe")
        let second = try await check(client)["remote-token"]
        #expect(try claims(first)["sub"] as? String == "town/zed")
        #expect(try claims(second)["sub"] as? String == "town/zoe")
        let csrf = try #require(try await client.get("/account").input("csrf"))
        _ = try await client.post("/sign-out", [("csrf", csrf)])
        let after = try await check(client)
        #expect(after.status == 401 && after["remote-token"] == nil)
    }

    @Test(arguments: ["nginx", "caddy", "traefik", "haproxy", "envoy"])
    func `each proxy gets the token, and an empty field without a user`(flavour: String) async throws {
        let server = try makeServer()
        for (target, hasUser) in [("/", true), ("/open", false), ("/", true)] {
            let fields = [
                "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https", "X-Forwarded-Method: GET",
                "X-Forwarded-Host: app.example", "X-Forwarded-Uri: \(target)", "X-Original-Method: GET",
                "X-Original-URL: https://app.example\(target)", Self.basic,
            ]
            let path = "/auth/\(flavour)" + (flavour == "envoy" ? target : "")
            let answer = try await TestClient(server, at: "app.example").send("GET", path, fields)
            #expect(answer.status == 200)
            #expect(answer.all("remote-token").count == 1)
            if hasUser {
                #expect(try claims(answer["remote-token"])["aud"] as? String == "app.example")
            } else {
                #expect(answer["remote-token"] == "")
            }
            if flavour == "envoy" {
                let removed = answer["x-envoy-auth-headers-to-remove"] ?? ""
                #expect(removed.contains("remote-token") == !hasUser)
            }
        }
    }

    @Test func `a request that is not allowed gets no token`() async throws {
        let client = TestClient(try makeServer(), at: "app.example")
        _ = try await client.signIn("zoe")
        let answer = try await check(client, "https://app.example/zed")
        #expect(answer.status == 403 && answer["remote-token"] == nil)
    }

    @Test func `without the setting the field is empty, and there is no path for keys`() async throws {
        let server = try makeServer("server { listen 127.0.0.1:0; trusted-proxies 127.0.0.1; }\n")
        let client = TestClient(server, at: "app.example")
        #expect(try await check(client, fields: [Self.basic])["remote-token"] == "")
        #expect(try await TestClient(server, at: "other.example").send("GET", "/jwks.json", []).status == 404)
        // The path belongs to the application.
        #expect(try await client.send("GET", "/jwks.json", []).status == 401)
    }

    @Test func `the keys are public, can be cached, and are the same at every host`() async throws {
        let expected = IdentityKeySet([try IdentityKey(key)]).json
        let server = try makeServer()
        for host in ["app.example", "wiki.example", "other.example"] {
            for method in ["GET", "HEAD"] {
                let answer = try await TestClient(server, from: "198.51.100.1", at: host).send(method, "/jwks.json", [])
                #expect(answer.status == 200)
                #expect(answer["content-type"] == "application/jwk-set+json")
                #expect(answer["cache-control"] == "max-age=300")
                #expect(answer.body == (method == "GET" ? expected : ""))
            }
        }
        #expect(!expected.contains("\"d\""))
    }

    @Test func `with a prefix the keys are below it`() async throws {
        let settings = """
            server { listen 127.0.0.1:0; trusted-proxies 127.0.0.1; identity-token { key a.pem; }
                     sign-in { prefix /gatehouse; } }

            """
        let client = TestClient(try makeServer(settings), at: "app.example")
        #expect(try await client.send("GET", "/gatehouse/jwks.json", []).status == 200)
        #expect(try await client.send("POST", "/gatehouse/jwks.json", [Self.basic]).status != 200)
    }
}

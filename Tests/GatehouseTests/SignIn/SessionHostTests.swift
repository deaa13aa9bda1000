// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Sessions
import Testing

@testable import SignIn

/// Tests that a session is valid only at the host where it began.
@Suite struct SessionHostTests {
    private static let configuration = """
        default-realm town;
        login town { StartWithLoginModule required; }
        login twice { StartWithLoginModule required; ScriptedLoginModule required code="123456"; }
        realm town  { class StartWithRealm; jaas-context town; startWith z; }
        realm twice { class StartWithRealm; jaas-context twice; startWith t; }
        server { listen 127.0.0.1:0; trusted-proxies 10.0.0.1; sign-in { realm town twice; } }
        protect / { realm town twice; auth form; require any; }
        """

    private let clock = ManualClock(now: 1_000_000_000_000)
    private let server: TestServer

    init() throws { server = try TestServer(Self.configuration, clock: clock) }

    /// Returns a client that has signed in at a host, and its token.
    private func signedIn(at host: String) async throws -> (client: TestClient, token: String) {
        let client = TestClient(server, at: host)
        #expect(try await client.signIn("zed").location == "/account")
        return (client, try #require(client[TestClient.session]))
    }

    /// Returns a client at another host with a stolen token.
    private func thief(_ token: String, at host: String) -> TestClient {
        let thief = TestClient(server, at: host)
        thief[TestClient.session] = token
        return thief
    }

    @Test(arguments: ["www.example", "app.example.org", "xapp.example", "192.0.2.1", "[::1]", "localhost"])
    func `a token of one host is not valid at another host`(host: String) async throws {
        let (client, token) = try await signedIn(at: "app.example")
        let csrf = try #require(try await client.fetch("GET", "/session").json("csrf"))
        clock.advance(by: .seconds(1000))
        let thief = thief(token, at: host)
        #expect(try await thief.get("/welcome").status == 302)
        for (method, target, status) in [
            ("GET", "/welcome", 401), ("GET", "/session", 401), ("POST", "/session/refresh", 401),
            ("GET", "/sessions", 401), ("GET", "/session/events", 401), ("GET", "/account", 401),
            ("DELETE", "/session", 404), ("DELETE", "/sessions/AAAAAAAAAAAAAAAAAAAAAA", 401),
        ] {
            #expect(try await thief.fetch(method, target).status == status, "\(method) \(target)")
            thief[TestClient.session] = token
        }
        #expect(try await thief.post("/sign-out", [("csrf", csrf)]).status == 303)
        thief[TestClient.session] = token
        let ended = try await thief.post("/account/end", [("csrf", csrf), ("others", "all")])
        #expect(ended.location?.hasPrefix("/sign-in") == true)
        thief[TestClient.session] = token
        // A sign-in at the other host does not end the session at this host.
        #expect(try await thief.signIn("zoe").location == "/account")
        let shown = try await client.fetch("GET", "/session")
        #expect(shown.json("user") == "zed")
        #expect(shown.json("idle_expires_at") == "1800002800")
    }

    @Test(arguments: ["app.example", "APP.Example", "app.example.", "app.example:8443", "App.Example.:443"])
    func `case, a trailing dot and the port are ignored when hosts are compared`(host: String) async throws {
        let (_, token) = try await signedIn(at: "app.example")
        #expect(try await thief(token, at: host).get("/welcome").status == 200)
        let (_, other) = try await signedIn(at: host)
        #expect(try await thief(other, at: "app.example").get("/welcome").status == 200)
    }

    @Test func `if the host is invalid, no session is found or begins`() async throws {
        let (client, token) = try await signedIn(at: "app.example")
        for fields in ["", "Host: \r\n", "Host: app.example@x\r\n"] {
            let request = "GET /welcome HTTP/1.0\r\n\(fields)Cookie: \(TestClient.session)=\(token)\r\n\r\n"
            let answer = try ParsedResponse(try await server.bytes(request))
            #expect([400, 401].contains(answer.status), "\(fields)")
        }
        let body = "{\"username\":\"zed\",\"password\":\"x\"}"
        let fields = "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)"
        let begun = try ParsedResponse(try await server.bytes("POST /session HTTP/1.0\r\n\(fields)\r\n\r\n\(body)"))
        #expect(begun.status == 400)
        #expect(begun.all("set-cookie").isEmpty)
        #expect(try await client.get("/welcome").status == 200)
        #expect(server.sessions.count == 1)
    }

    @Test(arguments: ["nginx", "caddy", "traefik", "haproxy", "envoy"])
    func `behind a proxy the host of a session is the host of the original request`(flavour: String) async throws {
        let (_, token) = try await signedIn(at: "app.example")
        for (host, status) in [("app.example", 200), ("APP.example.:443", 200), ("www.example", 401)] {
            var fields = ["X-Forwarded-For: 192.0.2.1", "Cookie: \(TestClient.session)=\(token)"]
            var (target, own) = ("/auth/\(flavour)", "gatehouse.internal")
            switch flavour {
            case "nginx": fields += ["X-Original-URL: https://\(host)/x", "X-Original-Method: GET"]
            case "envoy":
                (target, own) = ("/auth/envoy/x", host)
                fields += ["X-Forwarded-Proto: https"]
            default:
                fields += [
                    "X-Forwarded-Method: GET", "X-Forwarded-Proto: https", "X-Forwarded-Host: \(host)",
                    "X-Forwarded-Uri: /x",
                ]
            }
            let text = (["Host: \(own)"] + fields).joined(separator: "\r\n")
            let answer = try ParsedResponse(
                try await server.bytes("GET \(target) HTTP/1.1\r\n\(text)\r\n\r\n", from: "10.0.0.1")
            )
            #expect(answer.status == status, "\(host)")
        }
    }

    @Test func `a sign-in that began at one host cannot be completed at another host`() async throws {
        let client = TestClient(server, at: "app.example")
        #expect(try await client.signIn("tom").location == "/sign-in/step")
        let cookie = try #require(client[TestClient.signIn])
        let other = TestClient(server, at: "www.example")
        other[TestClient.signIn] = cookie
        #expect(try await other.get("/sign-in/step").location == "/sign-in")
        let json = "{\"number\":1,\"answers\":[\"123456\"]}"
        #expect(try await other.fetch("POST", "/session", json: json).status == 409)
        let page = try await client.get("/sign-in/step")
        let number = try #require(page.input("number"))
        let answers = [("number", number), ("answer-0", "123456")]
        _ = try await other.post("/sign-in/step", answers)
        #expect(other[TestClient.session] == nil)
        #expect(try await client.post("/sign-in/step", answers).location == "/account")
        // Another host does not accept a form that a page of the first host has sent.
        let ticket = try #require(try await client.get("/sign-in").input("ticket"))
        other[TestClient.signIn] = client[TestClient.signIn]
        let fields = [("ticket", ticket), ("username", "zed"), ("password", "x")]
        for origin in ["Origin: https://app.example", "Sec-Fetch-Site: same-site"] {
            #expect(try await other.post("/sign-in", fields, [origin]).status == 403)
        }
        #expect(other[TestClient.session] == nil)
    }

    @Test func `the use of a session at another host is logged once, with both hosts`() async throws {
        let (_, token) = try await signedIn(at: "app.example")
        for _ in 0..<3 { _ = try await thief(token, at: "WWW.example:99").get("/welcome") }
        let lines = server.log.text.split(separator: "\n").filter { $0.contains("presented at another host") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("app.example") == true && lines.first?.contains("www.example") == true)
        #expect(!server.log.text.contains(token))
    }

    @Test func `a user can list and end the sessions at other hosts`() async throws {
        let (client, _) = try await signedIn(at: "app.example")
        let (other, _) = try await signedIn(at: "www.example")
        let list = try await client.fetch("GET", "/sessions").body
        #expect(list.contains("\"host\":\"app.example\"") && list.contains("\"host\":\"www.example\""))
        let page = try await client.get("/account")
        #expect(page.body.contains("at www.example"))
        let id = try #require(try await other.fetch("GET", "/session").json("id"))
        #expect(try await other.fetch("GET", "/session").json("host") == "www.example")
        #expect(try await client.fetch("DELETE", "/sessions/\(id)").status == 204)
        #expect(try await other.fetch("GET", "/session").status == 401)
        #expect(try await client.fetch("GET", "/session").status == 200)
    }
}

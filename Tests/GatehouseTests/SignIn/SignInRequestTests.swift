// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Testing

@testable import AccessControl
@testable import SignIn

/// Tests of the requests that the sign-in pages accept.
@Suite struct SignInRequestTests {
    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(SignInTests.configuration, clock: ManualClock(now: 1_000_000_000_000))
        client = TestClient(server)
    }

    @Test func `signing out ends the session on the server and removes the cookie`() async throws {
        _ = try await client.signIn("zed")
        let stolen = try #require(client[TestClient.session])
        let csrf = try #require(try await client.get("/welcome").input("csrf"))
        let answer = try await client.post("/sign-out", [("csrf", csrf)])
        #expect(answer.status == 303)
        #expect(answer["clear-site-data"] == "\"cache\", \"storage\"")
        #expect(client[TestClient.session] == nil)
        #expect(try await client.follow(answer).body.contains("You have signed out."))
        let thief = TestClient(server)
        // CVE-2024-21492: when the page reports the end of the session, the session has ended.
        thief[TestClient.session] = stolen
        #expect(try await thief.get("/welcome").status == 302)
    }

    @Test(arguments: [nil, "", "0", String(repeating: "0", count: 64)])
    func `a sign-out without the CSRF token is refused`(csrf: String?) async throws {
        _ = try await client.signIn("zed")
        #expect(try await client.post("/sign-out", csrf.map { [("csrf", $0)] } ?? []).status == 400)
        #expect(try await client.get("/welcome").status == 200)
        #expect(try await client.get("/sign-out").status == 200)
        #expect(try await client.get("/welcome").status == 200)
    }

    @Test(arguments: [
        ["Origin: https://evil.example"], ["Origin: null"], ["Origin: http://house.example"],
        ["Origin: https://house.example:444"], ["Origin: https://house.example.evil.example"],
        ["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-site"], ["Sec-Fetch-Site: "],
        ["Sec-Fetch-Site: cross-site", "Origin: https://house.example"],
        ["Origin: https://house.example", "Origin: https://evil.example"],
        ["Sec-Fetch-Site: same-origin", "Origin: https://evil.example"],
        ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"],
    ])
    func `requests of other sites neither sign in nor sign out`(fields: [String]) async throws {
        let answer = try await client.signIn("zed", at: "/sign-in", fields)
        #expect(answer.status == 403)
        #expect(client[TestClient.session] == nil)
        _ = try await client.signIn("zed")
        let csrf = try #require(try await client.get("/welcome").input("csrf"))
        #expect(try await client.post("/sign-out", [("csrf", csrf)], fields).status == 403)
        #expect(try await client.post("/account/end", [("csrf", csrf), ("others", "all")], fields).status == 403)
        let json = ["Content-Type: application/json"] + fields
        let body = "{\"username\":\"zoe\",\"password\":\"x\"}"
        #expect(try await client.send("POST", "/session", json, body: body).status == 403)
        #expect(try await client.send("DELETE", "/session", fields).status == 403)
        #expect(try await client.get("/welcome").status == 200)
    }

    @Test func `X-Forwarded-Host is used only from trusted proxies, and only if the setting is on`() async throws {
        func server(_ setting: String) throws -> TestServer {
            let listen = "listen 127.0.0.1:0; trusted-proxies 10.0.0.0/8; \(setting)"
            return try TestServer(SignInTests.configuration.replacing("listen 127.0.0.1:0;", with: listen))
        }
        let fields = ["Origin: https://app.example", "X-Forwarded-Host: app.example"]
        let (trusting, ignoring) = (try server("forwarded-host on;"), try server(""))
        for (server, peer, status) in [
            (trusting, "10.0.0.1", 303), (trusting, "192.0.2.1", 403), (ignoring, "10.0.0.1", 400),
            (ignoring, "192.0.2.1", 403),
        ] {
            #expect(try await TestClient(server, from: peer).signIn("zed", at: "/sign-in", fields).status == status)
        }
    }

    @Test func `a form of the same origin is accepted with Origin, with Sec-Fetch-Site or with neither`() async throws {
        for fields in [
            ["Origin: https://house.example"], ["Origin: https://HOUSE.example:443"], ["Sec-Fetch-Site: same-origin"],
            ["Sec-Fetch-Site: none"], ["Accept: */*"],
            ["Sec-Fetch-Site: same-origin", "Origin: null"],
        ] {
            #expect(try await client.signIn("zed", at: "/sign-in", fields).location == "/account")
        }
    }

    @Test func `a form without a readable ticket or without the cookie of its page signs no user in`() async throws {
        let ticket = try #require(try await client.get("/sign-in").input("ticket"))
        let form = [("username", "zed"), ("password", "x")]
        for altered in ["", "x" + ticket, String(ticket.prefix(20))] {
            _ = try await client.post("/sign-in", [("ticket", altered)] + form)
            #expect(client[TestClient.session] == nil)
        }
        let bare = TestClient(server)
        let answer = try await bare.post("/sign-in", [("ticket", ticket)] + form)
        #expect(answer.status == 400 && answer.body.contains("Allow cookies for house.example"))
        #expect(bare[TestClient.session] == nil)
    }

    @Test(arguments: ["empty", "iframe", "serviceworker", "script"])
    func `a script, a frame or a service worker gets neither the sign-in page nor a sign-in`(
        destination: String
    )
        async throws
    {
        let fields = ["Sec-Fetch-Mode: cors", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: \(destination)"]
        for target in ["/sign-in", "/sign-in/step"] {
            #expect(try await client.send("GET", target, fields).status == 403)
        }
        #expect(try await client.signIn("zed", at: "/sign-in", fields).status == 403)
        #expect(client[TestClient.session] == nil)
        #expect(try await client.signIn("zed", at: "/sign-in", ["Sec-Fetch-Dest: document"]).status == 303)
    }

    @Test
    func `a navigation is redirected, a script gets 401, and a rule with basic first gets a Basic challenge`()
        async throws
    {
        let cases: [([String], Int)] = [
            (["Sec-Fetch-Mode: navigate"], 302), (["Sec-Fetch-Mode: navigate", "Accept: */*"], 302),
            (["Accept: text/html"], 302), (["Accept: application/json"], 401), ([], 401),
            (["Sec-Fetch-Mode: cors", "Accept: text/html"], 401), (["Sec-Fetch-Mode: no-cors"], 401),
            (["Sec-Fetch-Mode: websocket"], 401), (["Accept: text/html", "X-Requested-With: XMLHttpRequest"], 401),
        ]
        for (fields, status) in cases {
            let answer = try await client.send("GET", "/welcome", fields)
            #expect(answer.status == status, "\(fields)")
            let challenges = answer.all("www-authenticate")
            // A Basic challenge would make the browser open a password dialog for the script's page.
            let isScript = fields.contains { $0.hasPrefix("Sec-Fetch") || $0.hasPrefix("X-Requested") }
            #expect(challenges.count == (status == 401 ? isScript ? 1 : 2 : 0), "\(fields)")
            #expect(status != 401 || challenges[0].hasPrefix("Cookie "))
            #expect(answer.location == (status == 302 ? "/sign-in?return=/welcome" : nil))
        }
        #expect(try await client.send("POST", "/welcome", ["Accept: text/html"], body: "x").status == 303)
        #expect(try await client.send("HEAD", "/welcome", ["Accept: text/html"]).status == 302)
        let basic = try await client.send("GET", "/basic", ["Accept: text/html", "Sec-Fetch-Mode: navigate"])
        #expect(basic.status == 401)
        #expect(basic.all("www-authenticate").first?.hasPrefix("Basic ") == true)
        #expect(basic.body.contains("href=\"/sign-in\""))
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "get", "TRACE"])
    func `pages accept only their methods, and list them in Allow`(method: String) async throws {
        for target in ["/account", "/session/events", "/sessions"] {
            let answer = try await client.send(method, target)
            #expect(answer.status == 405)
            #expect(answer["allow"] == "GET, HEAD")
        }
    }

    @Test func `the answer to HEAD is the answer to GET without the body`() async throws {
        for target in ["/sign-in", "/style.css", "/session.js", "/account"] {
            let (get, head) = (
                try await client.get(target), try await client.send("HEAD", target, ["Accept: text/html"])
            )
            #expect(head.status == get.status && head.body.isEmpty && !get.body.isEmpty)
            #expect(head["content-length"] == get["content-length"])
        }
    }

    @Test func `CVE-2026-26998: a body that is too large, of another type or malformed is refused`() async throws {
        _ = try await client.get("/sign-in")
        let type = "Content-Type: application/x-www-form-urlencoded"
        let large = String(repeating: "a", count: 40_000)
        #expect(try await client.send("POST", "/sign-in", [type], body: large).status == 413)
        #expect(try await client.send("POST", "/sign-in", ["Content-Type: text/plain"], body: "a=b").status == 415)
        #expect(try await client.send("POST", "/sign-in", [], body: "a=b").status == 415)
        for body in ["ticket=%", "ticket=a&ticket=b", "%FF=1", "a=%00"] {
            #expect(try await client.send("POST", "/sign-in", [type], body: body).status == 400, "\(body)")
        }
    }
}

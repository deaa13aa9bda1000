// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Sessions
import Testing

@testable import SignIn

/// Tests of browsers with several cookies of the same name, of which a script of the host has set one in a partition.
@Suite struct RepeatedCookieTests {
    private let server: TestServer
    private let client: TestClient
    private let other: TestClient

    private static let removals = [
        "__Host-gatehouse=; Path=/; Secure; HttpOnly; SameSite=None; Partitioned; Max-Age=0",
        "__Host-gatehouse=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0",
    ]

    init() throws {
        server = try TestServer(SignInTests.configuration, clock: ManualClock(now: 1_000_000_000_000))
        client = TestClient(server)
        other = TestClient(server)
    }

    /// Signs in twice and returns header fields, the last of which has the session cookie of the other browser.
    private func fields(_ second: String?, isForm: Bool = false) async throws -> [String] {
        _ = try await client.signIn("zed")
        _ = try await other.signIn("zoe")
        #expect(server.sessions.count == 2)
        let token = try #require(other[TestClient.session])
        return [
            "Accept: text/html", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate",
            "Cookie: __Host-gatehouse=\(second ?? token)",
        ] + (isForm ? ["Content-Type: application/x-www-form-urlencoded"] : [])
    }

    @Test func `DELETE of the session ends the sessions of both cookies and removes both`() async throws {
        let fields = try await fields(nil)
        let answer = try await client.send("DELETE", "/session", fields)
        #expect(answer.status == 204 && answer.all("set-cookie") == Self.removals)
        #expect(server.sessions.count == 0)
        #expect(try await other.fetch("GET", "/session").status == 401)
    }

    @Test(arguments: ["x", "", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"])
    func `DELETE of the session ends it beside a cookie without a session`(second: String) async throws {
        let answer = try await client.send("DELETE", "/session", try await fields(second))
        #expect(answer.status == 204 && answer.all("set-cookie") == Self.removals)
        #expect(server.sessions.count == 1)
        #expect(try await other.fetch("GET", "/session").status == 200)
    }

    @Test func `the page asks whether to sign out, and its form ends the sessions of both cookies`() async throws {
        let fields = try await fields(nil, isForm: true)
        let page = try await client.send("GET", "/sign-out?return=/basic", fields)
        #expect(page.body.contains("<h1>Sign out?</h1>") && page.body.contains("You are signed in as zoe."))
        let csrf = try #require(page.input("csrf"))
        for wrong in ["", "csrf=x", "csrf=\(String(csrf.reversed()))"] {
            #expect(try await client.send("POST", "/sign-out", fields, body: wrong).status == 400)
        }
        #expect(server.sessions.count == 2)
        let answer = try await client.send("POST", "/sign-out", fields, body: "csrf=\(csrf)&then=return")
        #expect(answer.status == 303 && answer.all("set-cookie") == Self.removals)
        #expect(server.sessions.count == 0)
    }

    @Test func `the form of a page from before the second cookie ends the sessions of both cookies`() async throws {
        let fields = try await fields(nil, isForm: true)
        let csrf = try #require(try await client.get("/welcome").input("csrf"))
        let answer = try await client.send("POST", "/sign-out", fields, body: "csrf=\(csrf)")
        #expect(answer.status == 303 && answer.all("set-cookie").contains(Self.removals[0]))
        #expect(server.sessions.count == 0)
    }

    @Test func `a session is found behind many others that are unknown`() async throws {
        _ = try await client.signIn("zed")
        let token = try #require(client[TestClient.session])
        let unknown = (0..<40).map { "__Host-gatehouse=\(String(repeating: "A", count: 40))\($0 + 10)A" }
        let cookies = (unknown + ["__Host-gatehouse=\(token)"]).joined(separator: "; ")
        let answer = try await TestClient(server).send("DELETE", "/session", ["Cookie: \(cookies)"])
        #expect(answer.status == 204 && server.sessions.count == 0)
    }

    @Test func `the last answer of a sign-in ends the sessions of both cookies`() async throws {
        let json = ["Content-Type: application/json", "Sec-Fetch-Site: same-origin"]
        _ = try await client.signIn("zed")
        _ = try await other.signIn("zoe")
        let visitor = TestClient(server)
        let name = "{\"username\":\"tom\",\"password\":\"x\",\"realm\":\"twice\"}"
        let asked = try await visitor.send("POST", "/session", json, body: name)
        let number = try #require(asked.json("number"))
        let tokens = try [client, other].map { try #require($0[TestClient.session]) }
        let cookies = tokens.map { "__Host-gatehouse=\($0)" }.joined(separator: "; ")
        let answers = "{\"number\":\(number),\"answers\":[\"123456\"]}"
        let begun = try await visitor.send("POST", "/session", json + ["Cookie: \(cookies)"], body: answers)
        #expect(begun.status == 201, "\(begun)")
        #expect(server.sessions.sessions.map(\.user.username.text) == ["tom"])
    }

    @Test func `a sign-in ends the sessions of both cookies`() async throws {
        let ticket = try #require(try await client.get("/sign-in").input("ticket"))
        let fields = try await fields(nil, isForm: true)
        // The cookie of the sign-in is removed by a sign-in.
        let next = try #require(try await client.get("/sign-in").input("ticket"))
        #expect(ticket != next)
        let body = "ticket=\(next)&username=zack&password=x"
        #expect(try await client.send("POST", "/sign-in", fields, body: body).status == 303)
        #expect(server.sessions.sessions.map(\.user.username.text) == ["zack"])
    }

    @Test func `POST of the session ends the sessions of both cookies`() async throws {
        let fields = try await fields(nil) + ["Content-Type: application/json"]
        let body = "{\"username\":\"zack\",\"password\":\"x\"}"
        let answer = try await client.send("POST", "/session", fields, body: body)
        #expect(answer.status == 201 && answer.all("set-cookie").first == Self.removals[0])
        #expect(server.sessions.sessions.map(\.user.username.text) == ["zack"])
    }

    @Test func `a partitioned session cookie alone is removed at the next sign-in and sign-out`() async throws {
        let answer = try await client.send(
            "POST",
            "/session",
            ["Content-Type: application/json", "Cookie: __Host-gatehouse=x"],
            body: "{\"username\":\"zed\",\"password\":\"x\"}"
        )
        #expect(answer.all("set-cookie").first == Self.removals[0])
        #expect(try await client.fetch("DELETE", "/session").all("set-cookie") == Self.removals)
    }

    @Test(arguments: [
        "Cookie: __Host-gatehouse-sign-in=x", "Cookie: __Host-gatehouse-sign-in=x; __Host-gatehouse-sign-in=y",
    ])
    func `a second cookie of the sign-in does not prevent it`(cookie: String) async throws {
        let page = try await client.send("GET", "/sign-in", ["Accept: text/html", cookie])
        let cookies = page.all("set-cookie")
        #expect(cookies.count == 2)
        #expect(
            cookies.first
                == "__Host-gatehouse-sign-in=; Path=/; Secure; HttpOnly; SameSite=None; Partitioned; Max-Age=0"
        )
        #expect(cookies.last?.hasSuffix("; SameSite=Strict") == true)
        // No field sets a cookie twice that the browser already has.
        #expect(try await client.get("/sign-in").all("set-cookie").isEmpty)
    }

    @Test func `a request without cookies gets no removal of a partitioned cookie`() async throws {
        let answer = try await client.signIn("zed")
        #expect(!answer.all("set-cookie").contains { $0.contains("Partitioned") })
        #expect(try await client.get("/sign-in").all("set-cookie").allSatisfy { !$0.contains("Partitioned") })
    }
}

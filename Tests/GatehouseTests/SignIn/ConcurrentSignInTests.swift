// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmTesting
import Sessions
import Testing

@testable import AccessControl
@testable import SignIn

/// Tests of sign-ins at the same time, and of sign-ins during a reload.
@Suite struct ConcurrentSignInTests {
    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(SignInTests.configuration, clock: ManualClock(now: 1_000_000_000_000))
        client = TestClient(server)
    }

    @Test func `a form that is sent twice begins one session`() async throws {
        let ticket = try #require(try await client.get("/sign-in").input("ticket"))
        let page = client[TestClient.signIn]
        let form = [("ticket", ticket), ("username", "zed"), ("password", "x")]
        for _ in 0..<3 {
            client[TestClient.session] = nil
            client[TestClient.signIn] = page
            #expect(try await client.post("/sign-in", form).location == "/account")
        }
        #expect(server.sessions.count == 1)
        #expect(try await client.get("/welcome").status == 200)
    }

    @Test func `CVE-2026-33544: each of several concurrent sign-ins gets the identity of its own user`() async throws {
        let server = server
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let client = TestClient(server, from: "10.0.0.\(number)")
                    _ = try await client.signIn("z\(number)", at: "/sign-in?return=/welcome")
                    for _ in 0..<5 {
                        let page = try await client.get("/welcome")
                        #expect(page.body.contains("<h1>Welcome z\(number)</h1>"))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(server.sessions.count == 40)
    }

    @Test func `if the configuration is reloaded during a sign-in, the user must begin again`() async throws {
        _ = try await client.signIn("tom", at: "/sign-in?return=/twice")
        let number = try #require(try await client.get("/sign-in/step").input("number"))
        server.state.countReload()
        let answer = try await client.post("/sign-in/step", [("number", number), ("answer-0", "123456")])
        #expect(try await client.follow(answer).body.contains("Please try again later"))
        #expect(client[TestClient.session] == nil && server.sessions.count == 0)
    }

    @Test func `a request that the old configuration received before a reload begins no session after it`() async throws
    {
        // This server keeps its configuration: each of its requests is one that was received before the reload.
        server.state.countReload()
        let answer = try await client.signIn("zed", at: "/sign-in?return=/welcome")
        #expect(try await client.follow(answer).body.contains("Please try again later"))
        let json = "{\"username\":\"zed\",\"password\":\"x\"}"
        #expect(try await client.fetch("POST", "/session", json: json).status == 503)
        #expect(client[TestClient.session] == nil && server.sessions.count == 0)
    }

    @Test func `of simultaneous sign-ins of one browser, one session stays`() async throws {
        _ = try await client.get("/sign-in")
        let browser = try #require(client[TestClient.signIn])
        let fields = [
            "Cookie: \(TestClient.signIn)=\(browser)", "Content-Type: application/json", "Sec-Fetch-Site: same-origin",
        ]
        let server = server
        for _ in 0..<10 {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let json = "{\"username\":\"zed\",\"password\":\"x\"}"
                        return try await TestClient(server).send("POST", "/session", fields, body: json).status
                    }
                }
                for try await status in group { #expect(status == 201) }
            }
            #expect(server.sessions.count == 1)
        }
    }
}

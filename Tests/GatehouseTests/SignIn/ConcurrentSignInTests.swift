// SPDX-License-Identifier: Apache-2.0

import RealmKit
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

    @Test func `a reload during a sign-in ends it only if the realm has changed`() async throws {
        _ = try await client.signIn("tom", at: "/sign-in?return=/twice")
        let number = try #require(try await client.get("/sign-in/step").input("number"))
        server.service.countReload(to: Authenticator([]))
        let answer = try await client.post("/sign-in/step", [("number", number), ("answer-0", "123456")])
        #expect(try await client.follow(answer).body.contains("Please try again later"))
        #expect(client[TestClient.session] == nil && server.sessions.count == 0)

        let other = TestClient(server)
        let unchanged = try TestServer(SignInTests.configuration, clock: ManualClock()).accessController.authenticator
        server.service.countReload(to: unchanged)
        _ = try await other.signIn("tom", at: "/sign-in?return=/twice")
        let next = try #require(try await other.get("/sign-in/step").input("number"))
        for _ in 0..<2 { server.service.countReload(to: unchanged) }
        let accepted = try await other.post("/sign-in/step", [("number", next), ("answer-0", "123456")])
        #expect(accepted.location == "/twice" && other[TestClient.session] != nil && server.sessions.count == 1)
    }

    @Test func `a request that the old configuration received before a reload begins no session after it`() async throws
    {
        // This server keeps its configuration: each of its requests is one that was received before the reload.
        server.service.countReload(to: Authenticator([]))
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

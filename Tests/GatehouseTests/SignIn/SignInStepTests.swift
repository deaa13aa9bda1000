// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Sessions
import Testing

@testable import AccessControl
@testable import SignIn

/// Tests of the page for a second question, such as a one-time code.
@Suite struct SignInStepTests {
    private let clock = ManualClock(now: 1_000_000_000_000)
    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(SignInTests.configuration, clock: clock)
        client = TestClient(server)
    }

    @Test func `a second question has its own page, and only the right answer signs the user in`() async throws {
        let answer = try await client.signIn("tom", at: "/sign-in?return=/twice")
        #expect(answer.location == "/sign-in/step?return=/twice")
        #expect(client[TestClient.session] == nil)
        let page = try await client.follow(answer)
        #expect(page.body.contains("Signing in as tom."))
        #expect(page.body.contains("autocomplete=\"one-time-code\""))
        #expect(page.body.contains("<label for=\"answer-0\">One-time code</label>"))
        // The page can be reloaded.
        #expect(try await client.get("/sign-in/step").input("number") == page.input("number"))
        let number = try #require(page.input("number"))
        let done = try await client.post("/sign-in/step", [("number", number), ("answer-0", "123456")])
        #expect(done.location == "/twice")
        #expect(try await client.get("/twice").status == 200)
        // The form of the page cannot be sent again.
        #expect(try await client.post("/sign-in/step", [("number", number), ("answer-0", "123456")]).status == 303)
        #expect(server.service.pendingLogins.count == 0)
    }

    @Test func `strangers with many addresses do not cancel the sign-in of a user`() async throws {
        _ = try await client.signIn("tom", at: "/sign-in?return=/twice")
        let number = try #require(try await client.get("/sign-in/step").input("number"))
        for last in 1...30 {
            let stranger = TestClient(server, from: "198.51.100.\(last)")
            _ = try await stranger.signIn("tom", at: "/sign-in?return=/twice")
        }
        #expect(server.service.pendingLogins.count == 31)
        let done = try await client.post("/sign-in/step", [("number", number), ("answer-0", "123456")])
        #expect(done.location == "/twice")
        server.service.pendingLogins.removeAll()
    }

    @Test func `CVE-2026-49443: an empty second answer is a wrong answer`() async throws {
        for form in [[], [("answer-0", "")], [("answer-1", "123456")], [("answer-0", "654321")]] as [[(String, String)]]
        {
            _ = try await client.signIn("tom", at: "/sign-in?return=/twice")
            let number = try #require(try await client.get("/sign-in/step").input("number"))
            let answer = try await client.post("/sign-in/step", [("number", number)] + form)
            #expect(answer.location == "/sign-in/step?return=/twice")
            #expect(client[TestClient.session] == nil)
        }
    }

    @Test func `a wrong code can be corrected twice on its page, then the user begins again`() async throws {
        var page = try await client.follow(try await client.signIn("tom", at: "/sign-in?return=/twice"))
        #expect(!page.body.contains("role=\"alert\""))
        for _ in 0..<2 {
            let number = try #require(page.input("number"))
            let answer = try await client.post("/sign-in/step?return=/twice", [("number", number), ("answer-0", "1")])
            page = try await client.follow(answer)
            #expect(page.body.contains("This code was not accepted.") && page.body.contains("Signing in as tom."))
            #expect(page.input("number") != number)
        }
        let number = try #require(page.input("number"))
        let last = try await client.post("/sign-in/step?return=/twice", [("number", number), ("answer-0", "1")])
        #expect(last.location?.hasPrefix("/sign-in?ticket=") == true)
        #expect(try await client.follow(last).body.contains("Invalid credentials."))
        #expect(server.service.pendingLogins.count == 0 && client[TestClient.session] == nil)
        // The target is kept on the whole way.
        let ticket = try #require(try await client.follow(last).input("ticket"))
        let again = try await client.post("/sign-in", [("ticket", ticket), ("username", "tom"), ("password", "x")])
        let next = try #require(try await client.follow(again).input("number"))
        let done = try await client.post("/sign-in/step", [("number", next), ("answer-0", "123456")])
        #expect(done.location == "/twice")
    }

    @Test(arguments: ["123 456", " 123456", "12 34 56 "])
    func `spaces in a one-time code are ignored`(code: String) async throws {
        let page = try await client.follow(try await client.signIn("tom", at: "/sign-in?return=/twice"))
        let number = try #require(page.input("number"))
        let done = try await client.post("/sign-in/step", [("number", number), ("answer-0", code)])
        #expect(done.location == "/twice")
    }

    @Test func `the page of a code keeps the target if the user begins again or the page is stale`() async throws {
        let page = try await client.follow(try await client.signIn("tom", at: "/sign-in?return=/twice"))
        #expect(page.body.contains("<a href=\"/sign-in?return=/twice\">"))
        clock.advance(by: .seconds(601))
        server.service.pendingLogins.sweep(clock.now)
        let number = try #require(page.input("number"))
        let late = try await client.post("/sign-in/step?return=/twice", [("number", number), ("answer-0", "123456")])
        let again = try await client.follow(late)
        #expect(again.body.contains("has expired"))
        let ticket = try #require(again.input("ticket"))
        let next = try await client.post("/sign-in", [("ticket", ticket), ("username", "tom"), ("password", "x")])
        #expect(next.location == "/sign-in/step?return=/twice")
        // The page of the code is reloaded without a pending login.
        #expect(try await TestClient(server).get("/sign-in/step?return=/twice").location == "/sign-in?return=/twice")
    }

    @Test func `CVE-2026-32246: a user who has answered one of two questions is not authenticated`() async throws {
        _ = try await client.signIn("tom", at: "/sign-in?return=/twice")
        let half = try #require(client[TestClient.signIn])
        client[TestClient.session] = half
        for target in ["/twice", "/welcome", "/account"] { #expect(try await client.get(target).status == 302) }
        for (method, target) in [("GET", "/session"), ("POST", "/session/refresh"), ("GET", "/sessions")] {
            #expect(try await client.fetch(method, target).status == 401)
        }
    }

    @Test func `the page with a second question needs the cookie of the browser, and expires`()
        async throws
    {
        _ = try await client.signIn("tom", at: "/sign-in?return=/twice")
        let number = try #require(try await client.get("/sign-in/step").input("number"))
        let other = TestClient(server)
        _ = try await other.get("/sign-in")
        #expect(try await other.post("/sign-in/step", [("number", number), ("answer-0", "123456")]).status == 303)
        #expect(other[TestClient.session] == nil)
        // The number of a question that is not open.
        let wrong = try await client.post("/sign-in/step", [("number", "7"), ("answer-0", "123456")])
        #expect(wrong.location == "/sign-in/step")
        clock.advance(by: .seconds(601))
        server.service.pendingLogins.sweep(clock.now)
        #expect(server.service.pendingLogins.count == 0)
        let late = try await client.post("/sign-in/step", [("number", number), ("answer-0", "123456")])
        #expect(try await client.follow(late).body.contains("has expired"))
        #expect(client[TestClient.session] == nil)
    }

    @Test func `an answer to a question of an earlier login of the browser is not given to the present login`()
        async throws
    {
        func begin(_ name: String) async throws -> Int {
            let json = "{\"username\":\"\(name)\",\"password\":\"x\",\"realm\":\"twice\"}"
            return try #require(
                try await client.fetch("POST", "/session", json: json).json("number").flatMap { Int($0) }
            )
        }
        let (first, second) = (try await begin("tom"), try await begin("tim"))
        #expect(first != second)
        func answer(_ number: Int) async throws -> Int {
            try await client.fetch("POST", "/session", json: "{\"number\":\(number),\"answers\":[\"123456\"]}").status
        }
        #expect(try await answer(first) == 409)
        #expect(try await answer(second) == 201)
    }
}

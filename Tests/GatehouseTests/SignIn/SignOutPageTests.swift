// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Sessions
import Testing

@testable import AccessControl
@testable import SignIn

/// Tests of the page that asks whether to sign out.
@Suite struct SignOutPageTests {
    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(SignInTests.configuration, clock: ManualClock(now: 1_000_000_000_000))
        client = TestClient(server)
    }

    /// Sends the form of the page.
    private func submit(
        _ page: ParsedResponse,
        by client: TestClient,
        at path: String = "/sign-out"
    ) async throws
        -> ParsedResponse
    {
        let fields = ["csrf", "then", "return"].compactMap { name in page.input(name).map { (name, $0) } }
        return try await client.post(path, fields)
    }

    @Test func `the page asks, and neither it nor a reload of it changes anything`() async throws {
        _ = try await client.signIn("zed")
        for method in ["GET", "HEAD", "GET"] {
            let page = try await client.send(method, "/sign-out?return=/basic")
            #expect(page.status == 200 && page["set-cookie"] == nil && page["clear-site-data"] == nil)
            #expect(page["cache-control"] == "no-store")
            #expect(page["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
        }
        #expect(server.sessions.count == 1)
        #expect(try await client.get("/welcome").status == 200)
        let page = try await client.get("/sign-out")
        #expect(page.body.contains("<h1>Sign out?</h1>") && page.body.contains("You are signed in as zed."))
        #expect(!page.body.contains("Stay signed in"))
    }

    @Test func `the button signs out, and leads to the target once`() async throws {
        _ = try await client.signIn("zed")
        let page = try await client.get("/sign-out?return=/basic%3Fa%3D%2522")
        #expect(page.body.contains("<a href=\"/basic?a=%22\">Stay signed in</a>"))
        let answer = try await submit(page, by: client)
        #expect(answer.status == 303 && answer.location == "/sign-out?return=/basic%3Fa%3D%2522&notice=signed-out")
        #expect(answer["clear-site-data"] == "\"cache\", \"storage\"")
        #expect(server.sessions.count == 0 && client[TestClient.session] == nil)
        let left = try await client.follow(answer)
        #expect(left.status == 303 && left.location == "/basic?a=%22")
    }

    @Test func `if the target leads to the sign-in page, that page says once that the user has signed out`()
        async throws
    {
        let clock = ManualClock(now: 1_000_000_000_000)
        let server = try TestServer(SignInTests.configuration, clock: clock)
        let client = TestClient(server)
        for isLate in [false, true] {
            _ = try await client.signIn("zed")
            let answer = try await submit(try await client.get("/sign-out?return=/welcome"), by: client)
            let left = try await client.follow(try await client.follow(answer))
            #expect(left.status == 302 && left.location == "/sign-in?return=/welcome")
            if isLate { clock.advance(by: .seconds(60)) }
            for expected in [!isLate, false] {
                let page = try await client.follow(left)
                #expect(page.status == 200 && page.body.contains("You have signed out.") == expected, "\(page.body)")
            }
        }
        // A link without the notice, which any site may have, changes nothing.
        _ = try await client.get("/sign-out?return=/welcome")
        #expect(try await !client.get("/sign-in").body.contains("You have signed out."))
    }

    @Test func `without a target, a page says that the user is signed out`() async throws {
        for target in ["/sign-out", "/sign-out?return="] {
            let page = try await client.get(target)
            #expect(page.status == 200 && page.body.contains("You are signed out."))
            #expect(page.body.contains("<a href=\"/sign-in\">Sign in</a>"))
        }
        _ = try await client.signIn("zed")
        let answer = try await submit(try await client.get("/sign-out"), by: client)
        #expect(answer.location == "/sign-out")
        #expect(try await client.follow(answer).body.contains("You are signed out."))
    }

    @Test func `the form of a page whose session has ended meanwhile leads to the target too`() async throws {
        _ = try await client.signIn("zed")
        let page = try await client.get("/sign-out?return=/basic")
        _ = try await submit(page, by: client)
        let again = try await submit(page, by: client)
        #expect(again.status == 303 && again.location == "/sign-out?return=/basic&notice=signed-out")
    }

    @Test(arguments: [
        "https://evil.example/", "//evil.example/", "/\\evil.example", "https://app.example@evil.example/",
        "javascript:alert(1)", "http://app.example/", "https://app.example:444/", "/sign-out", "/sign-in", "/session",
        "/a/../b", "x", "/a%0D%0ASet-Cookie:%20x", " /a",
    ])
    func `a target that is not allowed is left out`(target: String) async throws {
        let query = "/sign-out?return=" + target.replacing(" ", with: "%20").replacing("\\", with: "%5C")
        let without = try await client.get(query)
        #expect(without.status == 200 && without.location == nil)
        _ = try await client.signIn("zed")
        let page = try await client.get(query)
        #expect(page.status == 200 && page.input("return") == nil)
        let csrf = try #require(page.input("csrf"))
        let answer = try await client.post("/sign-out", [("csrf", csrf), ("then", "return"), ("return", target)])
        #expect(answer.location == "/sign-out")
    }

    @Test func `a target at an origin of return-to is allowed, and the page may send its form there`() async throws {
        let target = "https://app.example/bye?x=1"
        #expect(try await client.get("/sign-out?return=\(target)").location == target)
        _ = try await client.signIn("zed")
        let page = try await client.get("/sign-out?return=\(target)")
        #expect(page["content-security-policy"]?.contains("form-action 'self' https:;") == true)
        let answer = try await submit(page, by: client)
        #expect(try await client.follow(answer).location == target)
    }

    @Test(arguments: ["", "0"])
    func `the form needs the CSRF token, and a page of another site cannot send it`(csrf: String) async throws {
        _ = try await client.signIn("zed")
        let fields = [("csrf", csrf), ("then", "return"), ("return", "/basic")]
        #expect(try await client.post("/sign-out", fields).status == 400)
        let page = try await client.get("/sign-out")
        let good = [("csrf", try #require(page.input("csrf"))), ("then", "return")]
        #expect(try await client.post("/sign-out", good, ["Sec-Fetch-Site: cross-site"]).status == 403)
        #expect(server.sessions.count == 1)
    }

    @Test func `with a sign-in host, the page at one host signs out at all hosts, and leads to the target`()
        async throws
    {
        let server = try TestServer(HandOverTests.configuration, clock: ManualClock(now: 1_000_000_000_000))
        let browser = TestBrowser(server)
        _ = try await browser.signIn("zed", on: try await browser.open("https://app.example/"))
        _ = try await browser.open("https://wiki.root2.test/")
        let app = browser.at("app.example")
        let page = try await app.get("/gatehouse/sign-out?return=https://other.example:8443/bye")
        let answer = try await submit(page, by: app, at: "/gatehouse/sign-out")
        #expect(server.sessions.count == 0)
        let target = "https://other.example:8443/bye"
        let left = try await browser.open(try #require(answer.location), stoppingBefore: { $0 == target })
        #expect(left.url == target && left.visited.count == 1)
        #expect(try await browser.at("wiki.root2.test").fetch("GET", "/gatehouse/session").status == 401)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Bytes
import OpenSSLKit
import RealmTesting
import Sessions
import Testing

@testable import AccessControl
@testable import SignIn

/// Tests of the page to which a sign-in leads.
@Suite struct SignInTargetTests {
    private let clock = ManualClock(now: 1_000_000_000_000)
    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(SignInTests.configuration, clock: clock)
        client = TestClient(server)
    }

    @Test func `a return target that is too long is left out`() async throws {
        let answer = try await client.get("/welcome?" + String(repeating: "%22", count: 2000))
        #expect(answer.location == "/sign-in")
    }

    @Test func `a stale page with the right password signs in, and leads to its target`() async throws {
        let ticket = try #require(try await client.get("/sign-in?return=/zed").input("ticket"))
        clock.advance(by: .seconds(100_000))
        let form = [("ticket", ticket), ("username", "zed"), ("password", "x")]
        #expect(try await client.post("/sign-in", form).location == "/zed")
        // A page of a server that has been restarted since.
        let restarted = TestClient(try TestServer(SignInTests.configuration, clock: clock))
        _ = try await restarted.get("/sign-in")
        #expect(try await restarted.post("/sign-in", form).location == "/zed")
        #expect(restarted[TestClient.session] != nil)
    }

    @Test func `a ticket whose target was altered leads nowhere else`() async throws {
        _ = try await client.get("/sign-in")
        for target in ["https://evil.example/", "//evil.example", "/sign-out"] {
            // The ticket of another server, which the attacker runs.
            let ticket = SignInTicket(destination: Destination(target: target), issued: 1)
            let sealed = try SignInTickets().seal(ticket, for: try Digest.sha256([1]))
            let form = [("ticket", sealed), ("username", "zed"), ("password", "x")]
            #expect(try await client.post("/sign-in", form).location == "/account", "\(target)")
            _ = try await client.get("/sign-in")
        }
    }

    @Test func `a tab whose form is sent after another tab has signed in leads to its own page`() async throws {
        let ticket = try #require(try await client.get("/sign-in?return=/welcome").input("ticket"))
        #expect(try await client.signIn("zed", at: "/sign-in?return=/zed").location == "/zed")
        let late = try await client.post("/sign-in", [("ticket", ticket), ("username", "zed"), ("password", "wrong")])
        #expect(late.status == 303 && late.location == "/welcome")
        #expect(server.sessions.count == 1)
    }

    @Test func `a sign-in page of a browser with a session offers to continue as its user`() async throws {
        _ = try await client.signIn("zed")
        let page = try await client.get("/sign-in?return=/zed")
        #expect(page.body.contains("<a href=\"/zed\">Continue as zed</a>"))
    }

    @Test(arguments: [
        "//evil.example", "/\\evil.example", "https://evil.example/", "https:evil.example", "/%09/evil.example",
        "https://house.example@evil.example/", "https://app.example.evil.example/", "javascript:alert(1)",
        "https://app.example:444/", "http://app.example/", "/sign-in", "/sign-out", "/a/../%5Cevil.example", "x", "",
        "/a%0d%0aSet-Cookie:%20x", "https://app.example%2f@evil.example/",
    ])
    func `CVE-2021-29456: no sign-in redirects to a site that is not allowed`(target: String) async throws {
        let answer = try await client.signIn("zed", at: "/sign-in?return=\(PercentEncoding.encode(target))")
        #expect(answer.location == "/account")
    }

    @Test(arguments: [
        ("/welcome?next=https://evil.example/", "/welcome?next=https://evil.example/"),
        ("https://app.example/x?y", "https://app.example/x?y"), ("https://house.example/zed", "/zed"),
    ])
    func `paths of the same host and URLs of allowed origins are valid return targets`(
        target: String,
        place: String
    ) async throws {
        let answer = try await client.signIn("zed", at: "/sign-in?return=\(PercentEncoding.encode(target))")
        #expect(answer.location == place)
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Sessions
import Testing

@testable import AccessControl
@testable import SignIn

/// Tests of the page for a user without access: it offers to sign in as another user.
@Suite struct AnotherUserTests {
    private static let realms = """
        default-realm town;
        login town { StartWithLoginModule required; }
        realm town { class StartWithRealm; jaas-context town; startWith z; }

        """
    private static let oneHost =
        realms + """
            server { listen 127.0.0.1:0; }
            protect /zed  { auth form basic; require user zed; }
            protect /away { auth form; require any; networks 10.0.0.0/8; }
            """
    private static let signInHost =
        realms + """
            server { listen 127.0.0.1:0; trusted-proxies 127.0.0.1; sign-in { host auth.example; prefix /gatehouse; } }
            protect wiki.example/ { auth form; require user zed; }
            """
    private static let navigation = ["Sec-Fetch-Mode: navigate", "Accept: text/html"]

    @Test func `a sign-in with a child session ends the sign-in that the child came from`() async throws {
        // The sign-in host was removed from the configuration, and the browser still has the child session.
        let server = try TestServer(Self.oneHost)
        let first = TestClient(server)
        _ = try await first.signIn("zoe")
        let sessions = server.sessions
        let parent = try #require(sessions.sessions.first)
        let host = try #require(RequestHost("other.example")?.sessionHost)
        let client = SessionClient(address: nil, userAgent: "")
        let (child, token) = try await sessions.beginChild(of: parent, at: host, from: client)
        let second = TestClient(server, at: "other.example")
        second[TestClient.session] = token.text
        #expect(try await second.get("/account").body.contains("this session"))
        _ = try await second.signIn("zed")
        #expect(parent.end == .replaced && child.end == .replaced)
        #expect(sessions.sessions.map { $0.user.username.text } == ["zed"])
    }

    @Test func `a user without access can sign in as another user, and returns to the page`() async throws {
        let client = TestClient(try TestServer(Self.oneHost))
        _ = try await client.signIn("zoe")
        let page = try await client.get("/zed/a?b=%22&c='<d>")
        #expect(page.status == 403)
        #expect(page.body.contains("You are signed in as zoe."))
        #expect(
            page.body.contains("name=\"return\" value=\"/zed/a?b=%22&amp;c=&#39;&lt;d&gt;\">Sign in as another user<")
        )
        let csrf = try #require(page.input("csrf"))
        let left = try await client.post("/sign-out", [("csrf", csrf), ("return", "/zed/a?b=%22&c='<d>")])
        #expect(left.status == 303 && client[TestClient.session]?.isEmpty != false)
        let form = try await client.follow(left)
        #expect(form.body.contains("You have signed out."))
        let ticket = try #require(form.input("ticket"))
        let answer = try await client.post("/sign-in", [("ticket", ticket), ("username", "zed"), ("password", "x")])
        #expect(answer.location == "/zed/a?b=%22&c='%3Cd%3E")
        #expect(try await client.follow(answer).status == 200)
    }

    @Test(arguments: ["https://evil.example/", "//evil.example/", "", "/sign-out", "x"])
    func `a sign-out ignores a target that is not allowed`(target: String) async throws {
        let client = TestClient(try TestServer(Self.oneHost))
        _ = try await client.signIn("zoe")
        let csrf = try #require(try await client.get("/zed").input("csrf"))
        let form = try await client.follow(try await client.post("/sign-out", [("csrf", csrf), ("return", target)]))
        let ticket = try #require(form.input("ticket"))
        let answer = try await client.post("/sign-in", [("ticket", ticket), ("username", "zed"), ("password", "x")])
        #expect(answer.location == "/account")
    }

    @Test func `only a session can be exchanged for that of another user`() async throws {
        let client = TestClient(try TestServer(Self.oneHost))
        let fields = Self.navigation + ["Authorization: Basic em9lOng="]
        let basic = try await client.send("GET", "/zed", fields)
        #expect(basic.status == 403 && basic.body.contains("You are signed in as zoe."))
        #expect(!basic.body.contains("<form"))
        let away = try await client.get("/away")
        #expect(away.status == 403 && !away.body.contains("<form"))
    }

    @Test func `with a sign-in host, the other user returns to the page of the first host`() async throws {
        let server = try TestServer(Self.signInHost)
        let browser = TestBrowser(server)
        let denied = try await browser.signIn("zoe", on: try await browser.open("https://wiki.example/a?b=c"))
        #expect(denied.status == 403 && denied.url == "https://wiki.example/a?b=c")
        let csrf = try #require(denied.response.input("csrf"))
        let form = [("csrf", csrf), ("return", "/a?b=c")]
        let left = try await browser.at("wiki.example").post("/gatehouse/sign-out", form)
        #expect(server.sessions.count == 0)
        let page = try await browser.open(try #require(left.location))
        #expect(
            page.url.hasPrefix(
                "https://auth.example/gatehouse/sign-in?notice=signed-out&return=https%3A//wiki.example/a"
            )
        )
        #expect(page.body.contains("<h1>Sign in to wiki.example</h1>"))
        let allowed = try await browser.signIn("zed", on: page)
        #expect(allowed.status == 200 && allowed.url == "https://wiki.example/a?b=c")
    }

    @Test func `after a refused sign-in, the session of another user does not lead to the application`() async throws {
        let browser = TestBrowser(try TestServer(Self.signInHost))
        let page = try await browser.open("https://wiki.example/")
        let ticket = try #require(page.response.input("ticket"))
        #expect(try await browser.signIn("zed", on: page).status == 200)
        // Another page has set the cookie of the form again.
        let auth = browser.at("auth.example")
        _ = try await auth.get("/gatehouse/sign-in")
        let form = [("ticket", ticket), ("username", "bob"), ("password", "x")]
        let refused = try await auth.follow(try await auth.post("/gatehouse/sign-in", form))
        #expect(refused.status == 200 && refused.body.contains("role=\"alert\""))
        #expect(refused.body.contains("Continue as zed"))
    }

    @Test(arguments: ForwardAuthTests.flavours)
    func `behind a proxy a browser gets the page, and a program gets a text`(flavour: String) async throws {
        let text = Self.signInHost.replacing("host auth.example;", with: "")
        let client = TestClient(try TestServer(text), at: "wiki.example")
        let ticket = try #require(try await client.get("/gatehouse/sign-in").input("ticket"))
        _ = try await client.post("/gatehouse/sign-in", [("ticket", ticket), ("username", "zoe"), ("password", "x")])
        func check(_ fields: [String]) async throws -> ParsedResponse {
            let original =
                switch flavour {
                case "nginx": ["X-Original-URL: https://wiki.example/a?b=c", "X-Original-Method: GET"]
                case "envoy": ["X-Forwarded-Proto: https"]
                default:
                    [
                        "X-Forwarded-Method: GET", "X-Forwarded-Proto: https", "X-Forwarded-Host: wiki.example",
                        "X-Forwarded-Uri: /a?b=c",
                    ]
                }
            let target = "/gatehouse/auth/\(flavour)" + (flavour == "envoy" ? "/a?b=c" : "")
            return try await client.send("GET", target, original + ["X-Forwarded-For: 192.0.2.1"] + fields)
        }
        let page = try await check(Self.navigation)
        #expect(page.status == 403 && page["content-type"] == "text/html; charset=utf-8")
        #expect(page["cache-control"] == "no-store" && page["content-security-policy"] != nil)
        #expect(page.body.contains("You are signed in as zoe."))
        #expect(page.body.contains("action=\"/gatehouse/sign-out\"") && page.body.contains("value=\"/a?b=c\""))
        let text403 = try await check(["Accept: application/json"])
        #expect(text403.status == 403 && text403["content-type"] == "text/plain; charset=utf-8")
        #expect(text403.body.contains("This user is not allowed to open this page."))
    }
}

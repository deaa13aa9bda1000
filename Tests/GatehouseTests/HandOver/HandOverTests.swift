// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Sessions
import Testing

@testable import AccessControl
@testable import SignIn

/// Tests of one sign-in for several hosts: the sign-in host hands its sessions over.
@Suite struct HandOverTests {
    static let configuration = """
        default-realm town;
        login town { StartWithLoginModule required; }
        realm town { class StartWithRealm; jaas-context town; startWith z; }
        realm city { class StartWithRealm; jaas-context town; startWith c; }
        server {
            listen 127.0.0.1:0;
            trusted-proxies 10.0.0.1;
            sign-in { host auth.example; prefix /gatehouse; realm town; return-to https://other.example:8443; }
        }
        protect app.example/     { auth form basic; require any; }
        protect wiki.root2.test/ { auth form; require any; }
        protect *.below.test/    { auth form; require any; }
        protect other.example/   { auth form; require any; }
        protect city.example/    { realm city; auth form; require any; }
        protect auth.example/me  { auth form; require any; }
        protect basic.example/   { auth basic; require any; }
        """

    private let clock = ManualClock(now: 1_000_000_000_000)
    private let server: TestServer
    private let browser: TestBrowser

    init() throws {
        server = try TestServer(Self.configuration, clock: clock)
        browser = TestBrowser(server)
    }

    private func isEntry(_ url: String) -> Bool { url.contains("/gatehouse/enter?") }

    /// Signs in and returns the URL with the code, which is not opened.
    private func codeURL(_ browser: TestBrowser, for url: String = "https://app.example/x?y=1") async throws -> String {
        let page = try await browser.open(url)
        return try await browser.signIn("zed", on: page, stoppingBefore: isEntry).url
    }

    // MARK: The way of a user

    @Test func `one sign-in is enough for hosts of two root domains`() async throws {
        let page = try await browser.open("https://app.example/x?y=1&z=%C3%A9")
        #expect(page.redirects == 1)
        #expect(page.url.hasPrefix("https://auth.example/gatehouse/sign-in?return=https%3A//app.example/x"))
        let first = try await browser.signIn("zed", on: page)
        #expect(first.url == "https://app.example/x?y=1&z=%C3%A9")
        #expect(first.body.contains("Welcome zed"))
        for url in ["https://wiki.root2.test/page", "https://a.below.test/", "https://other.example:8443/"] {
            let next = try await browser.open(url)
            // To the sign-in host, back to the host, and to the page itself.
            #expect(next.url == url && next.redirects == 3)
            #expect(next.body.contains("Welcome zed"))
            #expect(try await browser.open(url).redirects == 0)
        }
        #expect(server.sessions.sessions.count == 1)
        #expect(server.sessions.count == 5)
    }

    @Test func `a session of the sign-in host and its children are different tokens at different hosts`() async throws {
        _ = try await browser.signIn("zed", on: try await browser.open("https://app.example/"))
        let own = try #require(browser.at("auth.example")[TestClient.session])
        let child = try #require(browser.at("app.example")[TestClient.session])
        #expect(own != child)
        for (token, host) in [(child, "wiki.root2.test"), (child, "auth.example"), (own, "app.example")] {
            let thief = TestClient(server, at: host)
            thief[TestClient.session] = token
            #expect(try await thief.fetch("GET", "/gatehouse/session").status == 401, "\(host)")
        }
        #expect(try await browser.at("app.example").fetch("GET", "/gatehouse/session").json("user") == "zed")
    }

    @Test func `a sign-out at one host signs the user out at all hosts`() async throws {
        _ = try await browser.signIn("zed", on: try await browser.open("https://app.example/"))
        _ = try await browser.open("https://wiki.root2.test/")
        let app = browser.at("app.example")
        let csrf = try #require(try await app.get("/x").input("csrf"))
        let answer = try await app.post("/gatehouse/sign-out", [("csrf", csrf)])
        #expect(answer.location == "https://auth.example/gatehouse/sign-in?notice=signed-out")
        #expect(answer["clear-site-data"] == "\"cache\", \"storage\"")
        #expect(server.sessions.count == 0)
        #expect(try await browser.open(try #require(answer.location)).body.contains("signed out"))
        for host in ["app.example", "wiki.root2.test"] {
            #expect(try await browser.at(host).fetch("GET", "/gatehouse/session").status == 401)
            #expect(try await browser.open("https://\(host)/").response.input("ticket") != nil)
        }
    }

    @Test func `a sign-out at a host without a session leads to the sign-in host, where the session is`() async throws {
        _ = try await browser.signIn("zed", on: try await browser.open("https://wiki.root2.test/"))
        let app = browser.at("app.example")
        for (query, link) in [("", ""), ("?return=/x%3Fy=1", "?return=https%3A//app.example/x%3Fy%3D1")] {
            let asked = try await app.get("/gatehouse/sign-out\(query)")
            #expect(asked.status == 303 && asked.location == "https://auth.example/gatehouse/sign-out\(link)")
            let page = try await browser.open(try #require(asked.location))
            #expect(page.response.body.contains("You are signed in as zed."))
        }
        let sent = try await app.post("/gatehouse/sign-out", [("csrf", "x"), ("then", "return"), ("return", "/x")])
        #expect(sent.location == "https://auth.example/gatehouse/sign-out?return=https%3A//app.example/x")
        #expect(server.sessions.count == 2)
        // After the sign-out the same link leads to the target.
        #expect(try await browser.at("auth.example").fetch("DELETE", "/gatehouse/session").status == 204)
        let left = try await browser.open(
            "https://app.example/gatehouse/sign-out?return=/none",
            stoppingBefore: { $0 == "https://app.example/none" }
        )
        #expect(left.url == "https://app.example/none")
        #expect(
            try await browser.open("https://app.example/gatehouse/sign-out").response.body.contains(
                "You are signed out."
            )
        )
    }

    @Test func `a link with a notice does not tell a user with a session that it has ended`() async throws {
        _ = try await browser.signIn("zed", on: try await browser.open("https://app.example/"))
        for notice in ["signed-out", "expired"] {
            let page = try await browser.open("https://auth.example/gatehouse/sign-in?notice=\(notice)").response
            #expect(page.body.contains("You are signed in as zed."))
            #expect(page.body.ranges(of: "id=\"notice\"").count == 1 && !page.body.contains("signed out"))
        }
    }

    @Test func `DELETE of the session by a script of one host ends the whole sign-in`() async throws {
        _ = try await browser.signIn("zed", on: try await browser.open("https://app.example/"))
        #expect(try await browser.at("app.example").fetch("DELETE", "/gatehouse/session").status == 204)
        #expect(server.sessions.count == 0)
    }

    @Test func `a use of one host keeps the sign-in, and all hosts end together`() async throws {
        _ = try await browser.signIn("zed", on: try await browser.open("https://app.example/"))
        for _ in 0..<3 {
            clock.advance(by: .seconds(1500))
            #expect(try await browser.open("https://app.example/").redirects == 0)
        }
        #expect(try await browser.open("https://wiki.root2.test/").redirects == 3)
        clock.advance(by: .seconds(1801))
        #expect(try await browser.open("https://app.example/").response.input("ticket") != nil)
        #expect(try await browser.open("https://wiki.root2.test/").response.input("ticket") != nil)
    }

    @Test func `the pages with forms allow redirects to any host of https, because an application may redirect`()
        async throws
    {
        let page = try await browser.open("https://app.example/")
        #expect(page.response["content-security-policy"]?.contains("form-action 'self' https:;") == true)
        let welcome = try await browser.signIn("zed", on: page)
        #expect(welcome.response["content-security-policy"]?.contains("form-action 'self' https:;") == true)
    }

    @Test func `a browser with two session cookies gets one instead of both`() async throws {
        let url = try await codeURL(browser)
        // A script of the application has set a partitioned cookie.
        let fields = ["Accept: text/html", "Cookie: __Host-gatehouse=a; __Host-gatehouse=b"]
        let answer = try await browser.at("app.example").send("GET", try TestBrowser.split(url).target, fields)
        let cookies = answer.all("set-cookie")
        #expect(answer.location == "/x?y=1" && cookies.count == 3)
        #expect(
            cookies[0] == "__Host-gatehouse=; Path=/; Secure; HttpOnly; SameSite=None; Partitioned; Max-Age=0"
        )
        #expect(cookies[1].hasPrefix("__Host-gatehouse=") && cookies[1].hasSuffix("; SameSite=Lax"))
    }

    @Test func `a browser with two cookies of the hand-over arrives after one more redirect`() async throws {
        let url = try await codeURL(browser)
        let app = browser.at("app.example")
        let fields = [
            "Accept: text/html", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
            "Cookie: __Host-gatehouse-verifier=x",
        ]
        let answer = try await app.send("GET", try TestBrowser.split(url).target, fields)
        #expect(
            answer.all("set-cookie").first
                == "__Host-gatehouse-verifier=; Path=/; Secure; HttpOnly; SameSite=None; Partitioned; Max-Age=0"
        )
        #expect(answer.all("set-cookie").count == 2)
        #expect(try await browser.open(try #require(answer.location)).url == "https://app.example/x?y=1")
    }

    @Test(arguments: [
        (String(repeating: "[", count: 700), "/"), (String(repeating: "a", count: 2040), "/"),
        (String(repeating: "[", count: 600), "/x%3F" + String(repeating: "%5B", count: 600)),
    ])
    func `a target that is too long leads to the first page of its host`(query: String, path: String) async throws {
        let answer = try await browser.at("app.example").get("/x?\(query)")
        let location = try #require(answer.location)
        #expect(location.contains("return=https%3A//app.example\(path)&challenge="), "\(location)")
        let arrived = try await browser.signIn("zed", on: try await browser.open(location))
        #expect(arrived.url.hasPrefix("https://app.example/") && arrived.status == 200)
    }

    @Test func `a challenge names the sign-in page by its URL`() async throws {
        let answer = try await browser.at("app.example").fetch("GET", "/x")
        #expect(answer.status == 401)
        #expect(answer["www-authenticate"]?.contains("form-action=\"https://auth.example/gatehouse/sign-in\"") == true)
    }

    @Test func `a check of a host that is not named says why it is denied`() async throws {
        let proxy = TestClient(server, from: "10.0.0.1", at: "auth.example")
        let fields = [
            "Sec-Fetch-Mode: navigate", "Accept: text/html", "X-Forwarded-For: 192.0.2.1", "X-Original-Method: GET",
            "X-Original-URL: https://app.example:444/x",
        ]
        let answer = try await proxy.send("GET", "/gatehouse/auth/nginx", fields)
        #expect(answer.status == 403)
        #expect(answer.body.contains("https://app.example:444 does not share the sign-in host"))
    }

    @Test func `tabs that were opened at the same time all arrive`() async throws {
        // Every tab sends its first request before a response has set a cookie.
        var pages: [TestBrowser.Page] = []
        for number in 0..<3 {
            browser.at("app.example")[TestBrowser.verifier] = nil
            pages.append(try await browser.open("https://app.example/\(number)"))
        }
        for (number, page) in pages.enumerated() {
            let arrived =
                number == 0 ? try await browser.signIn("zed", on: page) : try await browser.open(page.url)
            #expect(arrived.url == "https://app.example/\(number)", "\(arrived.visited)")
            #expect(arrived.status == 200)
        }
        #expect(!server.log.text.contains("presented in the wrong place"))
    }

    @Test func `a second tab that sends its form after the first is redirected to its page`() async throws {
        let first = try await browser.open("https://app.example/1")
        let second = try await browser.open("https://wiki.root2.test/2")
        _ = try await browser.signIn("zed", on: first)
        let arrived = try await browser.signIn("zed", on: second)
        #expect(arrived.url == "https://wiki.root2.test/2" && arrived.status == 200)
    }

    @Test func `a host whose realm does not have the user shows the sign-in page`() async throws {
        _ = try await browser.signIn("zed", on: try await browser.open("https://app.example/"))
        let page = try await browser.open("https://city.example/")
        #expect(page.body.contains("You are signed in as zed. Signing in again ends that session."))
        let arrived = try await browser.signIn("carl", on: page)
        #expect(arrived.url == "https://city.example/" && arrived.body.contains("Welcome carl"))
        // The user of the other realm is signed out.
        #expect(try await browser.open("https://app.example/").body.contains("You are signed in as carl"))
    }

    @Test func `a sign-in at the sign-in host itself needs no code`() async throws {
        let page = try await browser.open("https://auth.example/me")
        #expect(page.url == "https://auth.example/gatehouse/sign-in?return=/me")
        #expect(try await browser.signIn("zed", on: page).url == "https://auth.example/me")
        #expect(browser.at("auth.example")[TestBrowser.verifier] == nil)
    }

    @Test func `without cookies at the host, a page says so instead of a loop`() async throws {
        let page = try await browser.open("https://app.example/x")
        browser.at("app.example")[TestBrowser.verifier] = nil
        var url = try await browser.signIn("zed", on: page, stoppingBefore: isEntry).url
        var statuses: [Int] = []
        for _ in 0..<3 {
            let (_, target) = try TestBrowser.split(url)
            let answer = try await browser.at("app.example").get(target)
            browser.at("app.example")[TestBrowser.verifier] = nil
            statuses.append(answer.status)
            guard let location = answer.location else {
                #expect(answer.body.contains("Allow cookies for app.example"))
                #expect(answer.body.contains("href=\"/x\""))
                break
            }
            url = try await browser.open(location, stoppingBefore: isEntry).url
        }
        #expect(statuses == [303, 400])
    }

    @Test func `a link from another configuration or version still leads to the page`() async throws {
        for query in ["return=https://app.example/x", "return=https://app.example/x&challenge=old"] {
            let page = try await browser.open("https://auth.example/gatehouse/sign-in?\(query)")
            let arrived = try await browser.signIn("zed", on: page)
            #expect(arrived.url == "https://app.example/x" && arrived.status == 200)
            let csrf = try #require(arrived.response.input("csrf"))
            _ = try await browser.at("app.example").post("/gatehouse/sign-out", [("csrf", csrf)])
        }
    }

    // MARK: Passwords

    @Test func `no host but the sign-in host accepts a password or lists the sessions`() async throws {
        _ = try await browser.signIn("zed", on: try await browser.open("https://app.example/"))
        let app = browser.at("app.example")
        let form = [("username", "zed"), ("password", "x"), ("ticket", "AA")]
        for (target, form) in [("/gatehouse/sign-in", form), ("/gatehouse/sign-in/step", [("number", "1")])] {
            let answer = try await app.post(target, form)
            #expect(answer.location == "https://auth.example/gatehouse/sign-in?notice=expired")
            #expect(answer.all("set-cookie").isEmpty)
        }
        let step = try await app.get("/gatehouse/sign-in/step")
        #expect(step.location == "https://auth.example/gatehouse/sign-in")
        #expect(try await app.post("/gatehouse/account/end", [("others", "all")]).status == 403)
        let json = "{\"username\":\"zed\",\"password\":\"x\"}"
        let begun = try await app.fetch("POST", "/gatehouse/session", json: json)
        #expect(begun.status == 403 && begun.body.contains("only-at-sign-in-host"))
        #expect(try await app.fetch("GET", "/gatehouse/sessions").status == 403)
        #expect(try await app.fetch("DELETE", "/gatehouse/sessions/AAAAAAAAAAAAAAAAAAAAAA").status == 403)
        #expect(try await app.get("/gatehouse/account").location == "https://auth.example/gatehouse/account")
        #expect(try await browser.at("auth.example").fetch("GET", "/gatehouse/sessions").status == 200)
        #expect(server.sessions.sessions.count == 1)
    }

    @Test func `a sign-in page of another host is at the sign-in host, and keeps its target`() async throws {
        let page = try await browser.open("https://app.example/gatehouse/sign-in?return=/x")
        #expect(page.url.hasPrefix("https://auth.example/gatehouse/sign-in?return=https%3A//app.example/x&challenge="))
        #expect(try await browser.signIn("zed", on: page).url == "https://app.example/x")
    }

    /// The configuration before its sign-in host was set.
    private static let before = configuration.replacing("host auth.example; ", with: "")

    @Test(arguments: ["", "/step"])
    func `the form of a page from before the sign-in host leads there, and keeps its target`(path: String) async throws
    {
        let old = TestBrowser(try TestServer(Self.before, clock: clock))
        let ticket = try #require(try await old.open("https://app.example/x?y=1").response.input("ticket"))
        let form = [("ticket", ticket), ("username", "zed"), ("password", "x"), ("number", "1")]
        let query = path.isEmpty ? "" : "?return=/x%3Fy%3D1"
        let answer = try await browser.at("app.example").post("/gatehouse/sign-in\(path)\(query)", form)
        #expect(answer.status == 303 && browser.at("app.example")[TestClient.session] == nil)
        let page = try await browser.open(try #require(answer.location))
        #expect(page.url.hasPrefix("https://auth.example/gatehouse/sign-in?return=https%3A//app.example/x%3Fy%3D1"))
        #expect(page.body.contains("The sign-in page has expired."))
        #expect(server.sessions.count == 0)
        let arrived = try await browser.signIn("zed", on: page)
        #expect(arrived.url == "https://app.example/x?y=1" && arrived.body.contains("Welcome zed"))
    }

    @Test func `the form of an old page needs no password if there is a session at the sign-in host`() async throws {
        let old = TestBrowser(try TestServer(Self.before, clock: clock))
        let ticket = try #require(try await old.open("https://app.example/x").response.input("ticket"))
        _ = try await browser.signIn("zed", on: try await browser.open("https://wiki.root2.test/"))
        let answer = try await browser.at("app.example").post("/gatehouse/sign-in", [("ticket", ticket)])
        let arrived = try await browser.open(try #require(answer.location))
        #expect(arrived.url == "https://app.example/x" && arrived.body.contains("Welcome zed"))
    }

    @Test func `the form of a page at an earlier sign-in host leads to the present one, and keeps its target`()
        async throws
    {
        let earlier = Self.configuration.replacing("host auth.example;", with: "host login.example;")
        let old = TestBrowser(try TestServer(earlier, clock: clock))
        let page = try await old.open("https://app.example/x")
        #expect(page.url.hasPrefix("https://login.example/"))
        let ticket = try #require(page.response.input("ticket"))
        let answer = try await browser.at("login.example").post("/gatehouse/sign-in", [("ticket", ticket)])
        let next = try await browser.open(try #require(answer.location))
        #expect(next.url.hasPrefix("https://auth.example/gatehouse/sign-in?return=https%3A//app.example/x&challenge="))
        #expect(try await browser.signIn("zed", on: next).url == "https://app.example/x")
    }

    @Test func `a form that another site sends to a guarded host leads nowhere`() async throws {
        let form = [("ticket", "AA"), ("username", "zed"), ("password", "x")]
        let fields = ["Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: cross-site"]
        let body = form.map { "\($0)=\($1)" }.joined(separator: "&")
        let answer = try await browser.at("app.example").send("POST", "/gatehouse/sign-in", fields, body: body)
        #expect(answer.status == 403 && answer.location == nil)
    }

    @Test func `the account page lists one session with its hosts`() async throws {
        _ = try await browser.signIn("zed", on: try await browser.open("https://app.example/"))
        let page = try await browser.open("https://auth.example/gatehouse/account")
        #expect(page.body.contains("at auth.example, app.example"))
        #expect(page.body.split(separator: "<li>").count == 2)
    }
}

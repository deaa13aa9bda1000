// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Sessions
import Testing

@testable import AccessControl
@testable import SignIn

/// Tests of the sign-in page and its form.
@Suite struct SignInTests {
    static let configuration = """
        default-realm town;
        login town { StartWithLoginModule required; }
        login twice { StartWithLoginModule required; ScriptedLoginModule required code="123456"; }
        login down { ScriptedLoginModule required login="unavailable"; }
        realm town  { class StartWithRealm; jaas-context town; startWith z; }
        realm twice { class StartWithRealm; jaas-context twice; startWith t; }
        realm down  { class StackRealm; jaas-context down; }
        realm inner { class StartWithRealm; jaas-context town; startWith z; }
        server { listen 127.0.0.1:0; sign-in { time 10m; return-to https://app.example; } }
        protect /welcome { auth form basic; require any; }
        protect /zed     { auth form; require user zed; }
        protect /twice   { realm twice; auth form; require any; }
        protect /both    { realm twice town; auth form; require any; }
        protect /down    { realm down; auth form; require any; }
        protect /basic   { auth basic form; require any; }
        protect /either  { realm twice town; auth basic; require any; }
        protect /inner   { realm inner; auth form; require any; networks 10.0.0.0/8; }
        """

    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(Self.configuration, clock: ManualClock(now: 1_000_000_000_000))
        client = TestClient(server)
    }

    @Test func `after a sign-in the user is redirected to the requested page, and the session gives access to it`()
        async throws
    {
        let sent = try await client.get("/welcome?a=1&b=%C3%A9")
        #expect(sent.status == 302)
        let page = try #require(sent.location)
        #expect(page == "/sign-in?return=/welcome%3Fa%3D1%26b%3D%25C3%25A9")
        let answer = try await client.signIn("zed", at: page)
        #expect(answer.status == 303)
        #expect(answer.location == "/welcome?a=1&b=%C3%A9")
        let cookies = answer.all("set-cookie")
        let session = try #require(cookies.first { $0.hasPrefix("__Host-gatehouse=") })
        #expect(session.hasSuffix("; Path=/; Secure; HttpOnly; SameSite=Lax"))
        #expect(!session.contains("Domain"))
        #expect(client[TestClient.signIn] == nil)
        let welcome = try await client.get("/welcome?a=1&b=%C3%A9")
        #expect(welcome.status == 200)
        #expect(welcome.body.contains("Welcome zed"))
        #expect(welcome["cache-control"] == "no-store")
        #expect(welcome["vary"]?.contains("Cookie") == true)
    }

    @Test func `after a sign-in without a return target the user is redirected to the account page`() async throws {
        #expect(try await client.signIn("zed").location == "/account")
        #expect(try await client.get("/account").body.contains("this session"))
    }

    @Test(arguments: ["zed ", " zed", "\tzed\u{A0}", "zed\u{3000}"])
    func `white space at the ends of the typed name is ignored on the page only`(name: String) async throws {
        #expect(try await client.signIn(name, at: "/sign-in?return=/zed").location == "/zed")
        #expect(try await client.get("/zed").status == 200)
        let login = "{\"username\":\"\(name.replacing("\t", with: "\\t"))\",\"password\":\"x\"}"
        #expect(try await TestClient(server).fetch("POST", "/session", json: login).status == 401)
        // Nothing but white space is no name.
        #expect(try await TestClient(server).signIn(" \t").location?.hasPrefix("/sign-in?ticket=") == true)
    }

    @Test func `every refused sign-in shows the same message and the typed user name`() async throws {
        var shown: Set<String> = []
        for (name, password) in [("bob", "x"), ("nobody", "y"), ("bob", String(repeating: "p", count: 300))] {
            let answer = try await client.signIn(name, password, at: "/sign-in?return=/zed")
            #expect(answer.status == 303)
            #expect(client[TestClient.session] == nil)
            let page = try await client.follow(answer)
            #expect(page.status == 200)
            #expect(page.body.contains("role=\"alert\""))
            #expect(page.body.contains("After several wrong passwords, sign-in is blocked for 15 min.</p>"))
            #expect(page.body.contains("value=\"\(name)\""))
            let ticket = try #require(page.input("ticket"))
            shown.insert(
                page.body.split(separator: ticket).joined().split(separator: "value=\"\(name)\"").joined()
            )
        }
        #expect(shown.count == 1)
        // The return target is kept.
        let page = try await client.signIn("bob", at: "/sign-in?return=/zed")
        let ticket = try #require(try await client.follow(page).input("ticket"))
        let again = try await client.post("/sign-in", [("ticket", ticket), ("username", "zed"), ("password", "x")])
        #expect(again.location == "/zed")
    }

    @Test func `an invalid user name gets the same answer as a wrong name`() async throws {
        for name in ["", "z\ned", "z\u{7}ed", String(repeating: "z", count: 2000)] {
            let answer = try await client.signIn(name)
            #expect(answer.status == 303)
            #expect(try await client.follow(answer).body.contains("Invalid credentials."))
        }
        // Bytes that are not UTF-8 are not a user name.
        let ticket = try #require(try await client.get("/sign-in").input("ticket"))
        let body = "ticket=\(ticket)&username=z%FF&password=x"
        let fields = ["Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: same-origin"]
        let answer = try await client.send("POST", "/sign-in", fields, body: body)
        #expect(answer.status == 303 && client[TestClient.session] == nil)
    }

    @Test func `an unavailable realm accepts no sign-in, and the page reports the outage`() async throws {
        let answer = try await client.signIn("zed", at: "/sign-in?return=/down")
        let page = try await client.follow(answer)
        #expect(page.body.contains("cannot be signed in at the moment"))
        #expect(client[TestClient.session] == nil)
    }

    @Test func `the first of several realms that accepts the login decides`() async throws {
        #expect(try await client.signIn("zoe", at: "/sign-in?return=/both").location == "/sign-in/step?return=/both")
        let number = try #require(try await client.get("/sign-in/step").input("number"))
        // The first realm rejects every code of zoe. The second realm accepts zoe.
        let answer = try await client.post("/sign-in/step", [("number", number), ("answer-0", "0")])
        #expect(answer.location == "/both")
        #expect(try await client.get("/both").body.contains("<dd>town</dd>"))
    }

    @Test func `the first of several realms that accepts Basic credentials decides`() async throws {
        for (credentials, status) in [("em9lOng=", 200), ("em9lOng=", 200), ("dG9tOng=", 401), ("Ym9iOng=", 401)] {
            let answer = try await client.send("GET", "/either", ["Authorization: Basic \(credentials)"])
            #expect(answer.status == status)
            #expect(status == 401 || answer.body == "Welcome zoe\n")
            #expect(answer.all("www-authenticate").count == (status == 401 ? 1 : 0))
        }
    }

    @Test func `a session is denied if the rule does not allow its realm or its user`() async throws {
        _ = try await client.signIn("zoe")
        #expect(try await client.get("/zed").status == 403)
        #expect(try await client.get("/twice").status == 302)
        #expect(try await client.get("/zed")["www-authenticate"] == nil)
    }

    @Test func `CVE-2026-34454: an accepted sign-in ends the session of the browser, a refused one does not`()
        async throws
    {
        _ = try await client.signIn("zed")
        let before = try #require(client[TestClient.session])
        for name in ["bob", "z\u{7}ed"] {
            let page = try await client.follow(try await client.signIn(name)).body
            #expect(page.contains("role=\"alert\"") && page.contains(">Continue as zed</a>"))
            #expect(page.split(separator: "id=\"notice\"").count == 2)
            #expect(try await client.get("/welcome").body.contains("Welcome zed"))
        }
        _ = try await client.signIn("zoe")
        #expect(try await client.get("/welcome").body.contains("Welcome zoe"))
        client[TestClient.session] = before
        #expect(try await client.get("/welcome").status == 302)
        #expect(server.sessions.count == 1)
    }

    @Test func `an earlier session ends when the last question is answered, not before`() async throws {
        _ = try await client.signIn("zed")
        let before = client[TestClient.session]
        let page = try await client.follow(try await client.signIn("tom", at: "/sign-in?return=/twice"))
        #expect(try await client.get("/welcome").body.contains("Welcome zed"))
        let number = try #require(page.input("number"))
        let done = try await client.post("/sign-in/step", [("number", number), ("answer-0", "123456")])
        #expect(done.location == "/twice")
        #expect(try await client.get("/twice").body.contains("Welcome tom"))
        client[TestClient.session] = before
        #expect(try await client.get("/welcome").status == 302)
        #expect(server.sessions.count == 1)
    }

    @Test func `every sign-in begins a new session, even for the same user`() async throws {
        _ = try await client.signIn("zed")
        let first = client[TestClient.session]
        _ = try await client.signIn("zed")
        #expect(client[TestClient.session] != first)
        #expect(server.sessions.count == 1)
    }

    @Test func `a rule for another network does not determine the realm of the sign-in page`() async throws {
        let away = TestClient(server, from: "192.0.2.1")
        // The default realm accepts the login, and the rule denies the request.
        #expect(try await away.signIn("zed", at: "/sign-in?return=/inner").location == "/inner")
        #expect(try await away.get("/account").body.contains("<dd>town</dd>"))
        #expect(try await away.get("/inner").status == 403)
        let inside = TestClient(server, from: "10.0.0.1")
        #expect(try await inside.signIn("zed", at: "/sign-in?return=/inner").location == "/inner")
        #expect(try await inside.get("/inner").status == 200)
    }

    @Test func `accepted and rejected sign-ins are logged even if the access log is off`() async throws {
        _ = try await client.signIn("zed")
        _ = try await client.signIn("bob")
        let log = server.log.text
        #expect(log.contains("a session has begun"))
        #expect(log.contains("a sign-in was refused: wrong-credentials"))
    }

    @Test func `CVE-2026-33525, CVE-2023-52430: user names are escaped, and pages allow no script of others`()
        async throws
    {
        let name = "z\"><script>alert(1)</script>"
        _ = try await client.signIn(name)
        for target in ["/account", "/zed", "/sign-in"] {
            let page = try await client.get(target)
            #expect(!page.body.contains("<script>alert"))
            let policy = try #require(page["content-security-policy"])
            #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe"))
        }
        let refused = try await client.signIn("<img src=x>")
        #expect(!(try await client.follow(refused)).body.contains("<img"))
    }

    @Test func `CVE-2022-23469, CVE-2019-12452, CVE-2026-41181: no password, code or token is in the log`() async throws
    {
        _ = try await client.signIn("zed", "correct-horse", at: "/sign-in?return=/welcome")
        let token = try #require(client[TestClient.session])
        _ = try await client.get("/welcome?secret=query")
        _ = try await client.signIn("tom", "battery-staple", at: "/sign-in?return=/twice")
        _ = try await client.post("/sign-in/step", [("number", "1"), ("answer-0", "123456")])
        _ = try await client.send("GET", "/welcome", ["Authorization: Basic emVkOnN3b3JkZmlzaA=="])
        let text = server.log.text
        #expect(text.contains("\"zed\"@\"town\""))
        for secret in ["correct-horse", "battery-staple", "123456", token, "emVkOnN3b3JkZmlzaA", "swordfish", "query"] {
            #expect(!text.contains(secret), "\(secret)")
        }
    }
}

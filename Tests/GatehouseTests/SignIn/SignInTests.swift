// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Bytes
import OpenSSLKit
import RealmTesting
import Sessions
import Testing

@testable import AccessControl
@testable import SignIn

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

    private let clock = ManualClock(now: 1_000_000_000_000)
    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(Self.configuration, clock: clock)
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

    @Test func `every refused sign-in shows the same message and the typed user name`() async throws {
        var shown: Set<String> = []
        for (name, password) in [("bob", "x"), ("nobody", "y"), ("bob", String(repeating: "p", count: 300))] {
            let answer = try await client.signIn(name, password, at: "/sign-in?return=/zed")
            #expect(answer.status == 303)
            #expect(client[TestClient.session] == nil)
            let page = try await client.follow(answer)
            #expect(page.status == 200)
            #expect(page.body.contains("role=\"alert\""))
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
        for name in ["", " zed", "z\ned", "z\u{7}ed", String(repeating: "z", count: 2000)] {
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
        #expect(server.state.pendingLogins.count == 0)
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
        #expect(server.state.pendingLogins.count == 0 && client[TestClient.session] == nil)
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
        server.state.pendingLogins.sweep(clock.now)
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
        server.state.pendingLogins.sweep(clock.now)
        #expect(server.state.pendingLogins.count == 0)
        let late = try await client.post("/sign-in/step", [("number", number), ("answer-0", "123456")])
        #expect(try await client.follow(late).body.contains("has expired"))
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

    @Test func `CVE-2026-34454: an accepted or refused sign-in ends the session of the browser`() async throws {
        _ = try await client.signIn("zed")
        let before = try #require(client[TestClient.session])
        _ = try await client.signIn("bob")
        client[TestClient.session] = before
        #expect(try await client.get("/welcome").status == 302)
        #expect(server.sessions.count == 0)
    }

    @Test func `every sign-in begins a new session, even for the same user`() async throws {
        _ = try await client.signIn("zed")
        let first = client[TestClient.session]
        _ = try await client.signIn("zed")
        #expect(client[TestClient.session] != first)
        #expect(server.sessions.count == 1)
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

    @Test func `a return target that is too long is left out`() async throws {
        let answer = try await client.get("/welcome?" + String(repeating: "%22", count: 2000))
        #expect(answer.location == "/sign-in")
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
            return try TestServer(Self.configuration.replacing("listen 127.0.0.1:0;", with: listen))
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

    @Test func `accepted and rejected sign-ins are logged even if the access log is off`() async throws {
        _ = try await client.signIn("zed")
        _ = try await client.signIn("bob")
        let log = server.log.text
        #expect(log.contains("a session has begun"))
        #expect(log.contains("a sign-in was refused: wrong-credentials"))
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

    @Test func `a stale page with the right password signs in, and leads to its target`() async throws {
        let ticket = try #require(try await client.get("/sign-in?return=/zed").input("ticket"))
        clock.advance(by: .seconds(100_000))
        let form = [("ticket", ticket), ("username", "zed"), ("password", "x")]
        #expect(try await client.post("/sign-in", form).location == "/zed")
        // A page of a server that has been restarted since.
        let restarted = TestClient(try TestServer(Self.configuration, clock: clock))
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

    @Test func `CVE-2026-33525, CVE-2023-52430: user names are escaped, and pages allow no inline script`()
        async throws
    {
        let name = "z\"><script>alert(1)</script>"
        _ = try await client.signIn(name)
        for target in ["/account", "/zed", "/sign-in"] {
            let page = try await client.get(target)
            #expect(!page.body.contains("<script>"))
            let policy = try #require(page["content-security-policy"])
            #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe"))
        }
        let refused = try await client.signIn("<img src=x>")
        #expect(!(try await client.follow(refused)).body.contains("<img"))
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

// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Sessions
import Testing

@testable import AccessControl
@testable import SignIn

/// Attacks on the hand-over of sessions.
@Suite struct HandOverAttackTests {
    private let clock = ManualClock(now: 1_000_000_000_000)
    private let server: TestServer
    private let victim: TestBrowser
    private let attacker: TestBrowser

    init() throws {
        server = try TestServer(HandOverTests.configuration, clock: clock)
        victim = TestBrowser(server)
        attacker = TestBrowser(server, from: "192.0.2.66")
    }

    private func isEntry(_ url: String) -> Bool { url.contains("/gatehouse/enter?") }

    /// Signs in and returns the URL with the code, which is not opened.
    private func codeURL(
        _ browser: TestBrowser,
        as name: String = "zed",
        for url: String = "https://app.example/x"
    ) async throws -> String {
        let page = try await browser.open(url)
        return try await browser.signIn(name, on: page, stoppingBefore: isEntry).url
    }

    /// Opens a URL with a code, and returns the response without following it.
    private func enter(_ url: String, _ browser: TestBrowser, at host: String? = nil) async throws -> ParsedResponse {
        let (own, target) = try TestBrowser.split(url)
        return try await browser.at(host ?? own).get(target)
    }

    /// True if a response has set a session cookie.
    private func beginsSession(_ response: ParsedResponse) -> Bool {
        response.all("set-cookie").contains { $0.hasPrefix("__Host-gatehouse=") && !$0.hasPrefix("__Host-gatehouse=;") }
    }

    @Test func `a code is good only once`() async throws {
        let url = try await codeURL(victim)
        let verifier = victim.at("app.example")[TestBrowser.verifier]
        #expect(beginsSession(try await enter(url, victim)))
        // The same browser, as it was before the first use.
        victim.at("app.example")[TestClient.session] = nil
        victim.at("app.example")[TestBrowser.verifier] = verifier
        let again = try await enter(url, victim)
        #expect(!beginsSession(again) && again.status == 303)
        #expect(server.sessions.count == 2)
    }

    @Test func `a code from a log or a Referer is of no use in another browser`() async throws {
        // A browser without a verifier, and one with its own verifier.
        let first = try await codeURL(victim)
        #expect(!beginsSession(try await enter(first, TestBrowser(server))))
        #expect(!server.log.text.contains("presented in the wrong place"))
        let url = try await victim.open("https://app.example/x", stoppingBefore: isEntry).url
        _ = try await attacker.open("https://app.example/")
        #expect(!beginsSession(try await enter(url, attacker)))
        #expect(server.sessions.count == 1)
        #expect(
            server.log.text.contains("presented in the wrong place")
                && server.log.text.contains(#""reason": "another browser""#)
        )
        // The victim gets there nevertheless: the host begins again.
        let arrived = try await victim.open(url)
        #expect(arrived.url == "https://app.example/x" && arrived.status == 200)
    }

    @Test func `a code of one host is of no use at another host, even with its cookie`() async throws {
        let url = try await codeURL(victim)
        let verifier = victim.at("app.example")[TestBrowser.verifier]
        for host in ["wiki.root2.test", "auth.example", "app.example:444", "other.example:8443", "nowhere.test"] {
            victim.at(host)[TestBrowser.verifier] = verifier
            #expect(!beginsSession(try await enter(url, victim, at: host)), "\(host)")
        }
        #expect(server.sessions.count == 1)
    }

    @Test func `a code ends after 30 seconds`() async throws {
        let late = try await codeURL(victim)
        clock.advance(by: .seconds(30))
        #expect(!beginsSession(try await enter(late, victim)))
        let url = try await victim.open("https://app.example/x", stoppingBefore: isEntry).url
        clock.advance(by: .nanoseconds(29_999_999_999))
        #expect(beginsSession(try await enter(url, victim)))
    }

    @Test func `a code ends with the session it came from`() async throws {
        let url = try await codeURL(victim)
        server.sessions.end(.administrator) { _ in true }
        #expect(!beginsSession(try await enter(url, victim)))
        #expect(server.sessions.count == 0)
    }

    @Test func `login CSRF: a code of the attacker does not sign the victim in`() async throws {
        let url = try await codeURL(attacker, as: "zorro")
        #expect(!beginsSession(try await enter(url, victim)))
        // The victim is about to sign in, so the browser has a verifier.
        _ = try await victim.open("https://app.example/x")
        let second = try await attacker.open("https://app.example/x", stoppingBefore: isEntry).url
        #expect(!beginsSession(try await enter(second, victim)))
        #expect(victim.at("app.example")[TestClient.session] == nil)
    }

    @Test func `a challenge of the attacker in a link to the sign-in host gives the attacker nothing`() async throws {
        // The attacker sends the victim a link with the challenge of the attacker's browser.
        let link = try await attacker.open("https://app.example/x").url
        let code = try await victim.signIn("zed", on: try await victim.open(link), stoppingBefore: isEntry).url
        #expect(!beginsSession(try await enter(code, victim)))
        // The victim's visit has used up the code.
        #expect(!beginsSession(try await enter(code, attacker)))
    }

    @Test(
        arguments: [
            "https://evil.test/", "https://app.example.evil.test/", "https://evil.test/?https://app.example/",
            "https://app.example@evil.test/", "https://app.example:444/", "http://app.example/", "//evil.test/",
            "https://basic.example/", "https://below.test/", "https://xbelow.test/", "https://app.example./",
            "https://auth.example:444/", "https://other.example:9/", "https://app.example\\@evil.test/",
            "https://app.example/gatehouse/sign-in", "https://app.example/gatehouse/enter?code=x",
            "javascript:alert(1)", "https://app.example%2F@evil.test/", "https://[::1]/", "https://127.0.0.1/",
        ]
    )
    func `a code is never sent to a host that no rule with a sign-in page names`(target: String) async throws {
        let challenge = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        let encoded = target.utf8.map { "%" + (String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)) }.joined()
        let url = "https://auth.example/gatehouse/sign-in?return=\(encoded)&challenge=\(challenge)"
        let page = try await victim.open(url)
        #expect(page.redirects == 0)
        let answer = try await victim.signIn("zed", on: page, stoppingBefore: { _ in true })
        #expect(answer.response.location == "/gatehouse/account", "\(target)")
        // With a session, the page is shown again instead of a redirect.
        #expect(try await victim.open(url).redirects == 0)
        #expect(server.service.handOverCodes.count == 0)
    }

    @Test func `a request whose host is not named by a rule starts no hand-over`() async throws {
        let fields = ["Sec-Fetch-Mode: navigate", "Accept: text/html"]
        for host in ["app.example:444", "other.example"] {
            let answer = try await TestClient(server, at: host).send("GET", "/", fields)
            if host == "other.example" {
                #expect(answer.location?.hasPrefix("https://auth.example/") == true)
            } else {
                #expect(answer.status == 400 && answer.all("set-cookie").isEmpty, "\(host)")
            }
        }
    }

    @Test func `the target after a hand-over is at its own host`() async throws {
        for target in ["https://evil.test/", "//evil.test/", "https://wiki.root2.test/", "/gatehouse/sign-in"] {
            let answer = try await victim.at("app.example").get("/gatehouse/enter?code=x&retry=1&return=\(target)")
            #expect(answer.status == 400 && answer.body.contains("href=\"/\""), "\(target)")
        }
    }

    @Test func `a frame, an image or a script of another page starts no hand-over`() async throws {
        _ = try await codeURL(victim)
        let link = try await victim.open("https://app.example/x", stoppingBefore: { $0.contains("sign-in?") }).url
        let (host, target) = try TestBrowser.split(link)
        for destination in ["iframe", "image", "empty", "embed", "object", "serviceworker"] {
            let fields = ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: \(destination)", "Accept: text/html"]
            #expect(try await victim.at(host).send("GET", target, fields).status == 403, "\(destination)")
            let enter = try await victim.at("app.example").send("GET", "/gatehouse/enter?code=x", fields)
            // Chromium marks the navigation that a service worker passes on in this way.
            #expect(enter.status == (destination == "empty" ? 303 : 403), "\(destination)")
        }
        for mode in ["cors", "no-cors", "same-origin"] {
            let fields = ["Sec-Fetch-Mode: \(mode)", "Sec-Fetch-Dest: empty", "Accept: text/html"]
            let enter = try await victim.at("app.example").send("GET", "/gatehouse/enter?code=x", fields)
            #expect(enter.status == 403, "\(mode)")
        }
    }

    @Test func `no line of the log contains a code, a verifier or a challenge`() async throws {
        let url = try await codeURL(victim)
        let verifier = try #require(victim.at("app.example")[TestBrowser.verifier])
        let code = try #require(url.split(separator: "code=").last?.prefix(43))
        _ = try await enter(url, attacker)
        _ = try await enter(url, victim)
        let log = server.log.text
        #expect(log.contains("/gatehouse/enter"))
        #expect(!log.contains(code) && !log.contains(verifier) && !log.contains("challenge="))
    }

    @Test func `the responses of a hand-over are neither cached nor sent to other sites as a referrer`() async throws {
        let first = try await victim.at("app.example").get("/x")
        let url = try await codeURL(victim)
        for response in [first, try await enter(url, victim)] {
            #expect(response["cache-control"] == "no-store")
            #expect(["no-referrer", "strict-origin"].contains(response["referrer-policy"]))
        }
        // The address of the sign-in page has the challenge. Its style sheet is requested with the origin only.
        let page = try await attacker.open("https://app.example/")
        #expect(page.url.contains("challenge="))
        #expect(page.response["referrer-policy"] == "strict-origin")
    }

    @Test func `a code whose sign-in has ended begins the hand-over again`() async throws {
        let url = try await codeURL(victim)
        #expect(try await victim.at("auth.example").fetch("DELETE", "/gatehouse/session").status == 204)
        let (host, target) = try TestBrowser.split(url)
        let answer = try await victim.at(host).get(target)
        #expect(answer.status == 303 && answer.location?.hasPrefix("https://auth.example/gatehouse/sign-in?") == true)
    }

    @Test func `HEAD and POST do not use a code up`() async throws {
        let url = try await codeURL(victim)
        let (host, target) = try TestBrowser.split(url)
        for method in ["HEAD", "POST"] {
            #expect(try await victim.at(host).send(method, target).status == 405)
        }
        #expect(beginsSession(try await enter(url, victim)))
    }

    @Test func `an earlier session of another user at the host ends`() async throws {
        let old = try await victim.signIn("zed", on: try await victim.open("https://app.example/"))
        #expect(old.status == 200)
        // The cookie of the sign-in host is lost, so that sign-in continues without the browser.
        victim.at("auth.example")[TestClient.session] = nil
        let link = try await TestBrowser(server).open("https://app.example/").url
        let code = try await victim.signIn("zorro", on: try await victim.open(link), stoppingBefore: isEntry).url
        _ = try await enter(code, victim)
        let next = try await victim.open("https://wiki.root2.test/")
        #expect(next.body.contains("Welcome zorro"))
    }

    @Test func `the number of open codes of a sign-in is limited`() async throws {
        let first = try await codeURL(victim)
        for _ in 0..<HandOverCodes.perSession {
            _ = try await victim.open("https://app.example/x", stoppingBefore: isEntry)
        }
        #expect(server.service.handOverCodes.count == HandOverCodes.perSession)
        #expect(!beginsSession(try await enter(first, victim)))
        clock.advance(by: .seconds(31))
        server.service.handOverCodes.sweep(clock.now)
        #expect(server.service.handOverCodes.count == 0)
    }

    @Test(arguments: ["nginx", "caddy", "traefik", "haproxy", "envoy"])
    func `each proxy gets the URL of the sign-in host and the cookie of the hand-over`(proxy: String) async throws {
        var fields = ["X-Forwarded-For: 192.0.2.1", "Sec-Fetch-Mode: navigate", "Accept: text/html"]
        var (target, own) = ("/gatehouse/auth/\(proxy)", "gatehouse.internal")
        switch proxy {
        case "nginx": fields += ["X-Original-URL: https://app.example/x", "X-Original-Method: GET"]
        case "envoy":
            (target, own) = ("/gatehouse/auth/envoy/x", "app.example")
            fields += ["X-Forwarded-Proto: https"]
        default:
            fields += [
                "X-Forwarded-Method: GET", "X-Forwarded-Proto: https", "X-Forwarded-Host: app.example",
                "X-Forwarded-Uri: /x",
            ]
        }
        let answer = try await TestClient(server, from: "10.0.0.1", at: own).send("GET", target, fields)
        #expect(answer.status == (proxy == "nginx" ? 401 : 302))
        let page = "https://auth.example/gatehouse/sign-in?return=https%3A//app.example/x&"
        #expect(answer.location?.hasPrefix(page) == true)
        #expect(answer.all("set-cookie").count { $0.hasPrefix("__Host-gatehouse-verifier=") } == 1)
    }
}

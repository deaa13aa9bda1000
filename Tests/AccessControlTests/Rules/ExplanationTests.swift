// SPDX-License-Identifier: Apache-2.0

import RealmConfiguration
import RealmKit
import Testing

@testable import AccessControl

struct ExplanationTests {
    private static let conf = """
        login c { PermitLoginModule required; }
        realm a { class StackRealm; jaas-context c; }
        realm b { class StackRealm; jaas-context c; }
        role admin { group Ops; user bob; realm a; }
        protect / { realm a; require any; }
        protect /public { open; }
        protect /never { nobody; }
        protect /lan { open; networks 10.0.0.0/8; }
        protect /m { open; methods GET; }
        protect /m { realm a; require any; methods POST; }
        protect app.example/ { realm a b; auth form basic; require role admin; require user ann; }

        """

    private func explain(
        _ url: String,
        _ method: String = "GET",
        _ user: SignedInUser? = nil,
        from peer: String? = nil
    ) throws -> Explanation {
        let rules = ProtectionRules(try InMemoryConfiguration(Self.conf).load().rules)
        return rules.explain(Explanation.Request(method: method, url: url, user: user, peer: peer))
    }

    private func user(_ name: String, _ realm: String, _ groups: String...) throws -> SignedInUser {
        SignedInUser(realm: realm, username: try Username(name), groups: groups)
    }

    @Test(
        arguments: [
            ("/public/x", "GET", 200, "the rule allows all requests"),
            ("/x", "GET", 401, "no user is signed in; the rule offers basic for realm a"),
            (
                "https://APP.example.:8443/x", "GET", 401,
                "no user is signed in; the rule offers form, then basic for realm a or b"
            ),
            ("/never", "GET", 403, "the rule denies all requests"),
            ("/lan", "GET", 403, "the client's address must be in 10.0.0.0/8"),
            ("/m", "HEAD", 200, "the rule allows all requests"),
            ("/m/x", "DELETE", 405, "the rules for the path apply to GET, HEAD, POST, not to DELETE"),
            ("/a/../b", "GET", 400, "the path is ambiguous: a segment is . or .."),
            ("/a#b", "GET", 400, "the path is ambiguous: the target contains a #"),
            ("x", "GET", 400, "the path is ambiguous: the target has no path, or a user name before the host"),
            ("https://u@app.example/", "GET", 400, "u@app.example is neither the name nor the address of a host"),
        ]
    )
    func `the explanation of a request without a user states the status and the reason`(
        url: String,
        method: String,
        status: Int,
        reason: String
    ) throws {
        let explanation = try explain(url, method)
        #expect(explanation.lines.first == "\(status): \(reason)")
        #expect(explanation.status == status)
        #expect(explanation.isAllowed == (status == 200))
    }

    @Test func `the explanation of a denied user states the requirement that is not met`() throws {
        let url = "https://app.example/x"
        #expect(try explain(url, "GET", user("ann", "b")).lines[0] == "200: ann of realm b is allowed")
        #expect(try explain(url, "GET", user("zed", "a", "Ops")).isAllowed)
        #expect(
            try explain(url, "GET", user("zed", "b", "Ops", "Staff")).lines[0]
                == "403: zed of realm b, in Ops, Staff, does not meet: role admin (group Ops, user bob of realm a), or user ann"
        )
        let foreign = try explain("/x", "GET", user("ann", "b")).lines[0]
        #expect(foreign == "401: ann of realm b is not a user of realm a, and has to sign in there")
        #expect(try explain("/lan", from: "10.2.3.4").isAllowed)
        #expect(try explain("/lan", from: "11.2.3.4").lines[0] == "403: 11.2.3.4 is in none of 10.0.0.0/8")
    }

    @Test func `a user who cannot sign in is denied, unless the rule needs no user`() throws {
        let card = ProtectRule(path: "/card", realms: ["a"], schemes: [.certificate], requirements: [.any])
        let rules = ProtectionRules(try InMemoryConfiguration(Self.conf).load().rules + [card])
        for (url, realm, line) in [
            ("/x", "a", "401: zed of realm a cannot sign in: the account is disabled"),
            ("/card", "a", "403: zed of realm a cannot sign in: the account is disabled"),
            ("/x", "b", "401: zed of realm b is not a user of realm a, and has to sign in there"),
            ("/public", "a", "200: the rule allows all requests"),
            ("/never", "a", "403: the rule denies all requests"),
        ] {
            let request = Explanation.Request(
                method: "GET",
                url: url,
                user: try user("zed", realm),
                obstacle: "the account is disabled"
            )
            #expect(rules.explain(request).lines.first == line)
        }
    }

    @Test func `a lock is reported where the user decides, because it refuses new sign-ins only`() throws {
        let rules = ProtectionRules(try InMemoryConfiguration(Self.conf).load().rules)
        for (url, line) in [
            ("/x", "200: zed of realm a is allowed; a new sign-in is refused until 10:00 (3 failed logins)"),
            ("/public", "200: the rule allows all requests"), ("/never", "403: the rule denies all requests"),
            (
                "https://app.example/x",
                "403: zed of realm a, in no group, does not meet: role admin (group Ops, user bob of realm a), "
                    + "or user ann; a new sign-in is refused until 10:00 (3 failed logins)"
            ),
        ] {
            let lock = "until 10:00 (3 failed logins)"
            let request = Explanation.Request(method: "GET", url: url, user: try user("zed", "a"), lock: lock)
            #expect(rules.explain(request).lines.first == line)
        }
    }

    @Test func `the explanation has a line for each rule of the host, in the order of evaluation`() throws {
        #expect(
            try explain("https://other.example/m", "POST", user("zed", "a")).text == """
                200: zed of realm a is allowed
                  realms.conf:8:9 protect /lan: applies to another path
                  realms.conf:9:9 protect /m GET: applies to other methods
                  realms.conf:10:9 protect /m POST: decides
                  realms.conf:7:9 protect /never: applies to another path
                  realms.conf:6:9 protect /public: applies to another path
                  realms.conf:5:9 protect /: matches too, but another rule is more specific
                  1 rule applies to another host
                """
        )
    }

    @Test func `the explanation of a URL without a host states that rules for hosts are skipped`() throws {
        #expect(try explain("/x").lines[1] == "the URL has no host, so rules for hosts are skipped")
        #expect(try explain("https://other.example/x").lines[1].hasPrefix("  realms.conf:8:9"))
        let others = (1...20).map { "protect a\($0).example/ { open; }" }.joined(separator: "\n")
        let rules = ProtectionRules(try InMemoryConfiguration(Self.conf + others).load().rules)
        let explanation = rules.explain(Explanation.Request(method: "GET", url: "https://app.example/"))
        #expect(explanation.lines.last == "  20 rules apply to other hosts")
        #expect(explanation.lines.filter { $0.contains(": decides") }.count == 1)
    }

    @Test func `the explanation of an ambiguous path names the rules of its readings`() throws {
        let rules = """
            protect npm.example/ { open; ambiguous-paths allow; }
            protect npm.example/private { nobody; }
            """
        let loaded = ProtectionRules(try InMemoryConfiguration(rules).load().rules)
        func explain(_ path: String, isBehindProxy: Bool = true) -> [String] {
            let request = Explanation.Request(method: "GET", url: "https://npm.example\(path)")
            return loaded.explain(request, isBehindProxy: isBehindProxy).lines
        }
        #expect(
            explain("/@scope%2fname") == [
                "200: the rule allows all requests",
                "programs may read the path differently; all readings lead to the rule that decides",
                "  realms.conf:2:9 protect npm.example/private: applies to another path",
                "  realms.conf:1:9 protect npm.example/: decides",
            ]
        )
        #expect(
            explain("/private%2fname") == [
                "400: the path is ambiguous: its readings lead to different rules",
                "a rule decides about such a path only if it has ambiguous-paths allow and all readings lead to it",
                "  realms.conf:2:9 protect npm.example/private: a reading of the path leads here",
                "  realms.conf:1:9 protect npm.example/: a reading of the path leads here",
            ]
        )
        // Without a proxy, no such path is allowed.
        #expect(explain("/@scope%2fname", isBehindProxy: false).first?.hasPrefix("400: the path is ambiguous") == true)
    }

    @Test func `the explanation of OPTIONS has a line about CORS preflights, if the host allows them`() throws {
        let text = """
            server { trusted-proxies 127.0.0.1; cors-preflights api.example; }
            protect *.example/ { nobody; }
            protect api.example/ { realm a; require any; methods GET POST; }
            """
        let configuration = try InMemoryConfiguration(Self.conf + text).load()
        let rules = ProtectionRules(configuration.rules, preflightHosts: configuration.server.preflightHosts)
        func lines(_ method: String, _ host: String) -> [String] {
            rules.explain(Explanation.Request(method: method, url: "https://\(host)/x")).lines
        }
        let line =
            "a CORS preflight (OPTIONS with Origin and Access-Control-Request-Method) is allowed without a login for GET, POST"
        #expect(lines("OPTIONS", "api.example").contains(line))
        for (method, host) in [("GET", "api.example"), ("OPTIONS", "other.example")] {
            #expect(!lines(method, host).contains { $0.contains("preflight") }, "\(method) \(host)")
        }
    }

    @Test func `without rules every request is allowed`() {
        let explanation = ProtectionRules([]).explain(Explanation.Request(method: "GET", url: "/"))
        #expect(explanation.text == "200: no rule matches, so the server allows the request")
        let request = Explanation.Request(method: "GET", url: "HTTPS://app.example/")
        let forwarded = ProtectionRules([]).explain(request)
        #expect(forwarded.text == "403: no rule matches, so forward authentication denies the request")
        #expect(ProtectionRules([]).explain(request, isBehindProxy: false).text == explanation.text)
    }

    @Test func `for random requests the explanation agrees with the decision`() throws {
        var maker = RandomRules(seed: 8)
        for _ in 0..<1000 {
            let rules = ProtectionRules(maker.rules())
            let (host, path, method) = maker.request()
            let url = host.map { "https://\($0)\(path)" } ?? path
            let explanation = rules.explain(Explanation.Request(method: method, url: url))
            let deciding = explanation.lines.filter { $0.hasSuffix(": decides") }
            switch rules.decide(host: host, path: path, method: method) ?? "" {
            case "none": #expect(explanation.status == (host == nil ? 200 : 403) && deciding.isEmpty)
            case let text where text.hasPrefix("uncovered"): #expect(explanation.status == 405 && deciding.isEmpty)
            case let place:
                #expect(explanation.status == 401)
                #expect(deciding.count == 1 && deciding[0].hasPrefix("  \(place) "), "\(explanation.text)")
            }
        }
    }
}

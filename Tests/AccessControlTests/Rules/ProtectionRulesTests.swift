// SPDX-License-Identifier: Apache-2.0

import Bytes
import RealmConfiguration
import RealmKit
import SeededRandom
import Testing

@testable import AccessControl

struct ProtectionRulesTests {
    private func rule(
        _ host: ProtectRule.Host,
        _ path: String,
        exact: Bool = false,
        _ methods: String...
    ) -> ProtectRule {
        var rule = ProtectRule(path: path, realms: ["r"], schemes: [.basic], requirements: [.any])
        rule.host = host
        rule.isExact = exact
        rule.methods = methods
        rule.place = ([rule.target] + methods).joined(separator: " ")
        return rule
    }

    private func decide(_ paths: [String], _ target: String) throws -> String? {
        let rules = ProtectionRules(paths.map { rule(.any, $0) })
        return rules.rule(path: try #require(RequestPath(target: target)))?.path
    }

    @Test(
        arguments: [
            ("/welcome", "/welcome"), ("/welcome/", "/welcome"), ("/welcome/a/b", "/welcome"),
            ("/welcome?x", "/welcome"),
            ("/w%65lcome", "/welcome"), ("/welcomes", nil), ("/Welcome", nil), ("/", nil), ("/a", "/a"),
            ("/a/b", "/a/b"),
            ("/a/b/c", "/a/b"), ("/a/bc", "/a"),
        ] as [(String, String?)]
    )
    func `the rule with the longest matching path decides`(target: String, rule: String?) throws {
        #expect(try decide(["/a", "/welcome", "/a/b"], target) == rule)
        #expect(try decide(["/a/b", "/welcome", "/a"], target) == rule)
    }

    @Test func `a rule for / protects all paths`() throws {
        #expect(try decide(["/"], "/") == "/")
        #expect(try decide(["/"], "/anything/at/all") == "/")
    }

    @Test(
        arguments: [
            ("app.example.com", "/x", "GET", "= app.example.com/x"),
            ("app.example.com", "/x/y", "GET", "app.example.com/x"),
            // No rule of the host matches the path, so the rules of the next host are evaluated.
            ("app.example.com", "/y", "GET", "*.example.com/"),
            ("b.app.example.com", "/x", "GET", "*.app.example.com/x"),
            ("b.app.example.com", "/y", "GET", "*.example.com/"), ("example.com", "/x", "GET", "/x"),
            ("notexample.com", "/x", "GET", "/x"), (".example.com", "/x", "GET", "ambiguous host"),
            ("other", "/y", "GET", "none"), (nil, "/x", "GET", "/x"), (nil, "/m", "GET", "/m GET"),
            (nil, "/m/deep", "HEAD", "/m GET"), (nil, "/m", "POST", "/m POST PUT"),
            (nil, "/m", "DELETE", "uncovered [\"GET\", \"HEAD\", \"POST\", \"PUT\"]"),
            (nil, "/m", "get", "uncovered [\"GET\", \"HEAD\", \"POST\", \"PUT\"]"),
            (nil, "/m/p", "GET", "uncovered [\"POST\"]"),
        ] as [(String?, String, String, String)]
    )
    func `the rule for the most specific host and path decides, if it applies to the method`(
        host: String?,
        path: String,
        method: String,
        decision: String
    ) {
        let rules = [
            rule(.any, "/x"), rule(.below("example.com"), "/"), rule(.name("app.example.com"), "/x"),
            rule(.name("app.example.com"), "/x", exact: true), rule(.below("app.example.com"), "/x"),
            rule(.any, "/m", "GET"), rule(.any, "/m", "POST", "PUT"), rule(.any, "/m/p", "POST"),
        ]
        for order in [rules, rules.reversed()] {
            #expect(ProtectionRules(order).decide(host: host, path: path, method: method) == decision)
        }
    }

    @Test func `an exact rule matches its path with or without a final slash, but no path below it`() {
        let rules = ProtectionRules([rule(.any, "/a", exact: true), rule(.any, "/", exact: true)])
        #expect(rules.decide(host: nil, path: "/a", method: "GET") == "= /a")
        #expect(rules.decide(host: nil, path: "/a/", method: "GET") == "= /a")
        #expect(rules.decide(host: nil, path: "/a/b", method: "GET") == "none")
        #expect(rules.decide(host: nil, path: "/", method: "GET") == "= /")
    }

    @Test func `an invalid host is rejected only if there is a rule for a host`() {
        #expect(ProtectionRules([rule(.any, "/")]).decide(host: "a b", path: "/", method: "GET") == "/")
        let rules = ProtectionRules([rule(.any, "/"), rule(.name("a"), "/")])
        for host in ["a b", "", "a,b", "a/b", "a@b", "a:x", "a%2e"] {
            #expect(rules.decide(host: host, path: "/", method: "GET") == "ambiguous host")
        }
    }

    @Test func `the host of a rule is converted to its canonical form`() throws {
        let rules = ProtectionRules([rule(.name("App.Example."), "/"), rule(.below("EXAMPLE"), "/")])
        let root = try #require(RequestPath(target: "/"))
        #expect(rules.rule(host: "app.example", path: root)?.host == .name("App.Example."))
        #expect(rules.rule(host: "b.example", path: root)?.host == .below("EXAMPLE"))
    }

    @Test func `two encodings of an accented letter are two different paths`() throws {
        let rules = ProtectionRules([rule(.any, "/caf\u{E9}"), rule(.any, "/cafe\u{301}")])
        let path = try #require(RequestPath(target: "/cafe%CC%81"))
        #expect(rules.rule(path: path).map { Array($0.path.utf8) } == Array("/cafe\u{301}".utf8))
    }

    @Test func `a segment that begins with a combining mark is protected`() throws {
        let rules = ProtectionRules([rule(.any, "/admin/\u{338}x")])
        let path = try #require(RequestPath(target: "/admin/%CC%B8x/users"))
        #expect(rules.rule(path: path) != nil)
    }

    @Test func `the order of rules in the file does not change the deciding rule, which agrees with a model`() {
        expectAgreement(RandomRules(seed: 5), sets: 1000)
    }

    /// Few rules are compared one by one, and many are found by tables.
    @Test func `many rules for many hosts and paths agree with the model`() {
        var maker = RandomRules(seed: 6)
        maker.maximum = 400
        maker.words = ["a", "b", "A", "caf\u{E9}", "cafe\u{301}"] + (0..<12).map { "s\($0)" }
        maker.moreNames = (0..<12).flatMap { ["h\($0).a.example", "x.h\($0).a.example"] }
        expectAgreement(maker, sets: 60)
    }

    private func expectAgreement(_ maker: RandomRules, sets: Int) {
        var maker = maker
        for _ in 0..<sets {
            let made = maker.rules()
            let (rules, shuffled) = (ProtectionRules(made), ProtectionRules(made.shuffled(using: &maker.random)))
            for _ in 0..<10 {
                let (host, path, method) = maker.request()
                let target = PercentEncoding.encode(path)
                let expected = RuleModel(rules: made).decide(host: host, path: path, method: method)
                let seen = "\(made.map(\.place)) \(made.map(\.target)) \(host ?? "-") \(path) \(method)"
                #expect(rules.decide(host: host, path: target, method: method) == expected, "\(seen)")
                #expect(shuffled.decide(host: host, path: target, method: method) == expected, "\(seen)")
            }
        }
    }

    /// Checks that the decision is the same for all spellings of the host of a request.
    private func expectOneDecision(seed: UInt64) {
        var maker = RandomRules(seed: seed)
        var decisions: Set<String> = []
        for _ in 0..<1000 {
            let rules = ProtectionRules(maker.rules())
            let (host, path, method) = maker.request()
            guard let host else { continue }
            let decision = rules.decide(host: host, path: path, method: method)
            decisions.insert(decision ?? "")
            let spelling = maker.spelling(of: host)
            #expect(rules.decide(host: spelling, path: path, method: method) == decision, "\(spelling)")
        }
        #expect(decisions.count > 5)
    }

    @Test func `CVE-2026-77560: the case of a host never changes the decision`() { expectOneDecision(seed: 1) }

    @Test func `CVE-2026-48794: a rule for a domain matches hosts in any case, with a trailing dot or a port`() {
        expectOneDecision(seed: 2)
    }

    @Test(arguments: [1, 2, 50, 200, 1000])
    func `CVE-2026-27587: the number of rules never changes how hosts and paths are compared`(count: Int) {
        let others = (1..<max(count, 1)).map { rule(.name("h\($0).example"), "/p\($0)") }
        let rules = ProtectionRules(others + [rule(.name("app.example"), "/admin"), rule(.any, "/")])
        #expect(rules.decide(host: "APP.example", path: "/admin", method: "GET") == "app.example/admin")
        #expect(rules.decide(host: "APP.example", path: "/%61dmin", method: "GET") == "app.example/admin")
        #expect(rules.decide(host: "app.example", path: "/Admin", method: "GET") == "/")
    }

    @Test(arguments: [
        "/admin?x=/public", "/admin?/public", "/public/../admin", "/public%2f..%2fadmin", "/public/%2e%2e/admin",
    ])
    func `CVE-2025-54576: rules match the path and ignore the query`(target: String) {
        let rules = ProtectionRules([rule(.any, "/public"), rule(.any, "/admin")])
        let decision = rules.decide(host: nil, path: target, method: "GET")
        #expect(decision == nil || decision == "/admin")
    }

    @Test(
        arguments: [
            ("api.example", "/x", "PUT", "api.example/"), ("api.example", "/admin/x", "GET", "api.example/admin"),
            ("b.below.example", "/", "DELETE", "/"), ("api.example", "/read", "GET", "api.example/read GET"),
            ("api.example", "/open", "POST", "api.example/open"),
            // No rule allows the announced request, or the host is not in the list.
            ("api.example", "/read", "PUT", nil), ("api.example", "/closed", "GET", nil),
            ("api.example", "/inside", "GET", nil), ("other.example", "/x", "PUT", nil),
            ("below.example", "/", "GET", nil),
            // A rule with OPTIONS decides itself.
            ("api.example", "/own", "GET", nil),
        ] as [(String, String, String, String?)]
    )
    func `a CORS preflight is allowed by the rule of the request that it announces`(
        host: String,
        path: String,
        method: String,
        expected: String?
    ) throws {
        var (closed, inside) = (rule(.name("api.example"), "/closed"), rule(.name("api.example"), "/inside"))
        closed.access = .nobody
        inside.networks = [try CIDRBlock("10.0.0.0/8")]
        let api = ProtectRule.Host.name("api.example")
        let rules = ProtectionRules(
            [
                rule(.any, "/"), rule(api, "/"), rule(api, "/admin"), rule(api, "/read", "GET"), rule(api, "/open"),
                rule(api, "/own", "GET"), rule(api, "/own", "OPTIONS"), closed, inside,
            ],
            preflightHosts: [api, .below("below.example")]
        )
        let path = PathReadings(try #require(RequestPath(target: path)))
        let found = rules.ruleAllowingPreflight(for: method, host: RequestHost(host), path: path, from: "192.0.2.1")
        #expect(found?.rule.place == expected)
    }

    @Test(arguments: ["/admin#/public", "/public#/../admin", "/admin?x#/public"])
    func `CVE-2026-41059: a target with a fragment is rejected`(target: String) {
        #expect(RequestPath(target: target) == nil)
    }
}

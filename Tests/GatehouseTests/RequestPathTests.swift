// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Gatehouse
import RealmConfiguration
import Testing

@Suite struct RequestPathTests {
    @Test(
        arguments: [
            ("/", "/"), ("/welcome", "/welcome"), ("/welcome/", "/welcome/"), ("/a/b?c=/../d", "/a/b"),
            ("/a%20b", "/a b"),
            ("/%C3%A9t%C3%A9", "/été"), ("/~zed/.well-known", "/~zed/.well-known"), ("/a..b", "/a..b"), ("/?x", "/"),
            ("https://localhost:8443/welcome?x", "/welcome"), ("HTTPS://h", "/"), ("http://h?x", "/"),
        ]
    )
    func `plain targets are read`(target: String, path: String) {
        #expect(RequestPath(target: target)?.text == path)
    }

    @Test(
        arguments: [
            "", "*", "welcome", "localhost:443", "//welcome", "/a//b", "/./welcome", "/../welcome", "/a/..", "/a/.",
            "/%2e/welcome", "/%2E%2e/x", "/a%2fb", "/a%2Fb", "/a%5cb", "/a\\b", "/a;b", "/a%3bb", "/a%00", "/a%0d%0a",
            "/a%7f", "/a%", "/a%4", "/a%zz", "/a%+1", "/%ff", "/%c0%ae", "/a%252fb", "/welcome#x", "/a b", "/é",
            "/a\u{0}",
            "https:///x", "https://user@host/welcome", "ftp://h/welcome", "/a|b", "/a`b", "/<a>",
        ]
    )
    func `a target that two programs might read differently is refused`(target: String) {
        #expect(RequestPath(target: target) == nil)
    }

    @Test func `a target longer than eight thousand bytes is refused`() {
        #expect(RequestPath(target: "/" + String(repeating: "a", count: 8191)) != nil)
        #expect(RequestPath(target: "/" + String(repeating: "a", count: 8192)) == nil)
    }

    private func decide(_ rules: [String], _ target: String) throws -> String? {
        let rules = ProtectionRules(
            rules.map { ProtectRule(path: $0, realm: "r", schemes: [.basic], requirements: [.any]) }
        )
        return rules.rule(for: try #require(RequestPath(target: target)))?.path
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
    func `the longest rule on the way to a path decides`(target: String, rule: String?) throws {
        #expect(try decide(["/a", "/welcome", "/a/b"], target) == rule)
        #expect(try decide(["/a/b", "/welcome", "/a"], target) == rule)
    }

    @Test func `a rule for the root protects everything`() throws {
        #expect(try decide(["/"], "/") == "/")
        #expect(try decide(["/"], "/anything/at/all") == "/")
    }
}

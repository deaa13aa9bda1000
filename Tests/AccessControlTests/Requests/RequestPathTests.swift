// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessControl

@Suite struct RequestPathTests {
    @Test(
        arguments: [
            ("/", "/"), ("/welcome", "/welcome"), ("/welcome/", "/welcome/"), ("/a/b?c=/../d", "/a/b"),
            ("/a%20b", "/a b"),
            ("/%C3%A9t%C3%A9", "/été"), ("/~zed/.well-known", "/~zed/.well-known"), ("/a..b", "/a..b"), ("/?x", "/"),
            ("https://localhost:8443/welcome?x", "/welcome"), ("HTTPS://h", "/"), ("http://h?x", "/"),
        ]
    )
    func `a valid target is parsed`(target: String, path: String) {
        #expect(RequestPath(target: target)?.text == path)
    }

    @Test(
        arguments: [
            "", "*", "welcome", "localhost:443", "//welcome", "/a//b", "/./welcome", "/../welcome", "/a/..", "/a/.",
            "/%2e/welcome", "/%2E%2e/x", "/a%2fb", "/a%2Fb", "/a%5cb", "/a\\b", "/a;b", "/a%3bb", "/a%00", "/a%0d%0a",
            "/a%7f", "/a%", "/a%4", "/a%zz", "/a%+1", "/%ff", "/%c0%ae", "/a%252fb", "/a/..%3f", "/a/..%23", "/a%3Fb",
            "/a%23", "/welcome#x", "/a b", "/é",
            "/a\u{0}",
            "https:///x", "https://user@host/welcome", "ftp://h/welcome", "/a|b", "/a`b", "/<a>",
        ]
    )
    func
        `CVE-2026-40912, CVE-2026-48020, CVE-2026-65600, CVE-2025-66490: a target that two programs might read differently is refused`(
            target: String
        )
    {
        #expect(RequestPath(target: target) == nil)
    }

    @Test func `a path longer than 8,192 bytes is rejected`() {
        #expect(RequestPath(target: "/" + String(repeating: "a", count: 8191)) != nil)
        #expect(RequestPath(target: "/" + String(repeating: "a", count: 8192)) == nil)
    }

    @Test(
        arguments: [
            ("*", .noPath), ("https://user@host/", .noPath), ("/" + String(repeating: "a", count: 8192), .tooLong),
            ("/a//b", .emptySegment), ("/a/%2E%2e", .dots), ("/a%2Fb", .encoding), ("/%ff", .encoding),
            ("/a%4", .encoding),
            ("/a;b", .character), ("/é", .character), ("/a?b#c", .fragment),
        ] as [(String, AmbiguousPath)]
    )
    func `an ambiguous target throws its reason`(target: String, reason: AmbiguousPath) {
        #expect(throws: reason) { try RequestPath(reading: target.utf8Span.span) }
        #expect(!reason.description.isEmpty)
    }
}

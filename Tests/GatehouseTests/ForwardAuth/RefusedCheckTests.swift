// SPDX-License-Identifier: Apache-2.0

import Bytes
import SignIn
import Testing

@testable import AccessControl
@testable import GatehouseCommand

/// Checks that end before a rule is found, the pages for checks that are refused, and refusals because of the load.
@Suite struct RefusedCheckTests {
    private static let configuration = """
        default-realm town;
        login town { StartWithLoginModule required; }
        login down { ScriptedLoginModule required login="unavailable"; }
        realm town { class StartWithRealm; jaas-context town; startWith z; }
        realm down { class StackRealm; jaas-context down; }
        server { listen 127.0.0.1:0; trusted-proxies 127.0.0.1; }
        protect npm.example/      { auth form basic; require any; }
        protect npm.example/zed   { auth basic; require user zed; }
        protect npm.example/down  { realm down; auth basic; require any; }
        """
    private static let flavours = ["nginx", "caddy", "traefik", "haproxy", "envoy"]
    private static let zorro = "Authorization: Basic em9ycm86eA=="

    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(Self.configuration)
        client = TestClient(server)
    }

    /// The last line of the access log.
    private var line: String { server.log.text.split(separator: "\n").last { $0.contains("us ") }?.description ?? "" }

    /// Returns the last line of the access log as the reader of logs reads it.
    private func entry() throws -> LogEntry {
        let text = "2026-11-22T02:29:33.764Z access: \(line.dropLast(" [:]".count))"
        guard case .entry(let entry) = LogLine(Array(text.utf8)) else {
            Issue.record("\(text) is not read")
            return LogEntry(.other, at: LogTime(milliseconds: 0))
        }
        return entry
    }

    @Test(
        arguments: flavours,
        [
            ("npm.example", "/@scope%2fname", "/@scope%2fname"), ("npm.example", "/a/../b", "/a/../b"),
            ("npm.example", "/a;x", "/a;x"), ("other.example", "/y/z", "/y/z"), ("npm.example", "/%00", "/%00"),
        ]
    )
    func `a check that ends before a rule is found names the host and the path in the log and on the page`(
        flavour: String,
        request: (host: String, target: String, path: String)
    ) async throws {
        let secret = "?token=secret"
        for fields in [[], ["Sec-Fetch-Mode: navigate", "Accept: text/html"]] {
            let answer = try await client.check(flavour, at: request.host, request.target + secret, fields)
            #expect(answer.status == 403)
            #expect(answer.body.contains(request.host + request.path), "\(answer.body)")
            #expect(!answer.body.contains("secret"))
            #expect(line.contains("for=\"GET \(request.host)\(request.path)\""), "\(line)")
            #expect(try entry()[.original]?.string == "GET \(request.host)\(request.path)")
        }
        #expect(!server.log.text.contains("secret"))
    }

    @Test func `the texts of a check that cannot be read are cut, printable, and without a password`() async throws {
        let long = String(repeating: "a", count: 5000)
        for (url, shown) in [
            ("https://npm.example/%2f\(long)?q", "npm.example/%2f\(String(repeating: "a", count: 252))..."),
            ("https://ann:secret@npm.example/x", "npm.example/x"), ("https://a_,b/x", "a_,b/x"),
            ("https://npm.example/\u{E9}\"x", "npm.example/__\"x"), ("npm.example/x?secret", "npm.example/x"),
            ("https://npm.example/x#secret", "npm.example/x"),
        ] {
            let fields = ["X-Original-URL: \(url)", "X-Original-Method: GET", "X-Forwarded-For: 192.0.2.7"]
            let answer = try await client.send("GET", "/auth/nginx", fields)
            #expect(answer.status == 403 && answer.body.contains(shown), "\(answer.body)")
            #expect(try entry()[.original]?.string == "GET \(shown)", "\(line)")
        }
        #expect(!server.log.text.contains("secret"))
    }

    private static let unreadURLs: [(flavour: String, fields: [String], shown: String?)] = [
        ("nginx", ["X-Original-URL: ftp://ann:secret@npm.example/x", "X-Original-Method: GET"], nil),
        ("nginx", ["X-Original-URL: ann:secret@npm.example/x", "X-Original-Method: GET"], nil),
        (
            "haproxy",
            [
                "X-Forwarded-Method: GET", "X-Forwarded-Proto: https", "X-Forwarded-Host: npm.example",
                "X-Forwarded-Uri: http://ann:secret@npm.example/x",
            ], "GET npm.example"
        ),
    ]

    @Test(arguments: unreadURLs)
    func `a URL that cannot be split is not shown if it may have a password`(
        flavour: String,
        fields: [String],
        shown: String?
    ) async throws {
        let answer = try await client.send("GET", "/auth/\(flavour)", fields + ["X-Forwarded-For: 192.0.2.7"])
        #expect(answer.status == 403)
        #expect(!answer.body.contains("ann:") && !answer.body.contains("secret"), "\(answer.body)")
        #expect(!server.log.text.contains("ann:") && !server.log.text.contains("secret"), "\(line)")
        #expect(try entry()[.original]?.string == shown, "\(line)")
    }

    @Test func `a check of a peer that is no proxy names the request in the log only`() async throws {
        let stranger = TestClient(server, from: "192.0.2.9")
        let answer = try await stranger.check("nginx", at: "npm.example", "/x")
        #expect(answer.status == 403 && !answer.body.contains("npm.example"))
        #expect(line.contains("for=\"GET npm.example/x\" not-trusted"), "\(line)")
    }

    @Test func `the check for a page is marked in the log, and its response is never an empty one`() async throws {
        let page = ["Sec-Fetch-Mode: navigate", "Accept: text/html"]
        func check(_ target: String, _ fields: [String]) async throws -> ParsedResponse {
            try await client.check("nginx", at: "npm.example", target, fields + page, pageOf: true)
        }
        let denied = try await check("/zed", [Self.zorro])
        #expect(denied.status == 403 && denied.body.contains("signed in as zorro"))
        #expect(line.contains("for=\"GET npm.example/zed\" page "), "\(line)")
        #expect(try entry().isPage && !entry().isFailure)
        // The proxy itself has denied the request, or the decision has just changed.
        for _ in 0..<2 {
            let allowed = try await check("/", [Self.zorro])
            #expect(allowed.status == 403 && allowed.body.contains("<main>") && allowed["remote-user"] == nil)
        }
        #expect(try await check("/down", [Self.zorro]).status == 503)
        _ = try await check("/a%2fb", [])
        #expect(try entry().isPage && entry()[.original]?.string == "GET npm.example/a%2fb", "\(line)")
        _ = try await client.check("nginx", at: "npm.example", "/zed", [Self.zorro])
        #expect(try !entry().isPage && entry().isFailure, "\(line)")
    }

    @Test(arguments: flavours)
    func `a check that cannot be decided now gets 503 and Retry-After, unless the proxy may allow it then`(
        flavour: String
    ) async throws {
        let answer = try await client.check(flavour, at: "npm.example", "/down", [Self.zorro])
        #expect(answer.status == (flavour == "envoy" ? 403 : 503))
        #expect(answer["retry-after"] == (flavour == "envoy" ? nil : "5") && !answer.body.isEmpty)
    }

    @Test(arguments: flavours)
    func `the line of a user who does not meet the rule has the requirement and the groups of the user`(
        flavour: String
    ) async throws {
        #expect(try await client.check(flavour, at: "npm.example", "/zed", [Self.zorro]).status == 403)
        #expect(line.contains(" rule=\"realms.conf:8:9 npm.example/zed\" needs=\"user zed\" has=\"User\""), "\(line)")
        #expect(try entry().explanation == "the user does not meet the rule: needs user zed, has User")
    }
}

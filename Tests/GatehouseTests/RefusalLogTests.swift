// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import RealmTesting
import SeededRandom
import SignIn
import Testing

@testable import Gatehouse
@testable import GatehouseCommand

/// The lines of refused requests in the access log name the rule.
@Suite struct RefusalLogTests {
    private static let configuration = """
        default-realm town;
        login town { StartWithLoginModule required; }
        login down { ScriptedLoginModule required login="unavailable"; }
        realm town { class StartWithRealm; jaas-context town; startWith z; }
        realm down { class StackRealm; jaas-context down; }
        server { listen 127.0.0.1:0; trusted-proxies 10.0.0.1; }
        protect /any     { auth form basic; require any; }
        protect /zed     { auth basic; require user zed; }
        protect /nobody  { nobody; }
        protect /inside  { open; networks 192.0.2.0/24; }
        protect = /read  { open; methods GET HEAD; }
        protect /down    { realm down; auth basic; require any; }
        protect *.proxied.test/ { auth form basic; require user zed; }
        protect /open    { open; }
        """

    // zorro:x and zed:x
    private static let zorro = "Authorization: Basic em9ycm86eA=="
    private static let zed = "Authorization: Basic emVkOng="
    private static let wrong = "Authorization: Basic Ym9iOng="

    /// The last line of the access log.
    private func line(of server: TestServer) -> String {
        server.log.text.split(separator: "\n").last { $0.contains("us") && $0.contains("\"/") }?.description ?? ""
    }

    @Test(
        arguments: [
            ("GET", "/any", [], 401, "realms.conf:7:9 /any"),
            ("GET", "/any", ["Sec-Fetch-Mode: navigate", "Accept: text/html"], 302, "realms.conf:7:9 /any"),
            ("GET", "/any", [wrong], 401, "realms.conf:7:9 /any"),
            ("GET", "/zed/a", [zorro], 403, "realms.conf:8:9 /zed"),
            ("GET", "/nobody", [], 403, "realms.conf:9:9 /nobody"),
            ("GET", "/inside", [], 403, "realms.conf:10:9 /inside"),
            ("POST", "/read", [], 405, "realms.conf:11:11 = /read GET HEAD"),
            ("GET", "/down", [zed], 503, "realms.conf:12:9 /down"),
            ("GET", "/any", ["Authorization: Basic ?"], 400, "realms.conf:7:9 /any"),
        ],
        [true, false]
    )
    func `the line of a refused request ends with the rule, on both lanes`(
        request: (method: String, path: String, fields: [String], status: Int, rule: String),
        usesBothLanes: Bool
    ) async throws {
        let lanes: GatehouseResponder.Lanes = usesBothLanes ? .both : .asyncOnly
        let server = try TestServer(Self.configuration, lanes: lanes)
        let answer = try await TestClient(server).send(request.method, request.path, request.fields)
        #expect(answer.status == request.status)
        let line = line(of: server)
        #expect(line.contains(" rule=\"\(request.rule)\""), "\(line)")
    }

    @Test(
        arguments: [
            ("/nobody", "nobody", "the rule denies all requests"),
            ("/inside", "networks", "the rule does not allow the address of the client"),
            ("/zed", nil, "the user does not meet the rule: needs user zed, has User"),
        ],
        [true, false]
    )
    func `the line of a refused request tells nobody from networks`(
        request: (path: String, statement: UTF8Text?, explanation: String),
        usesBothLanes: Bool
    ) async throws {
        let server = try TestServer(Self.configuration, lanes: usesBothLanes ? .both : .asyncOnly)
        #expect(try await TestClient(server).send("GET", request.path, [Self.zorro]).status == 403)
        let line = line(of: server)
        #expect(line.contains("denied-by=") == (request.statement != nil), "\(line)")
        let text = "2026-11-22T02:29:33.764Z access: \(line.dropLast(" [:]".count))"
        guard case .entry(let entry) = LogLine(Array(text.utf8)) else {
            Issue.record("\(text) is not read")
            return
        }
        #expect(entry[.deniedBy] == request.statement && entry.explanation == request.explanation, "\(text)")
    }

    @Test func `the line of an allowed request names no rule`() async throws {
        let server = try TestServer(Self.configuration)
        for (path, status) in [("/zed", 200), ("/open", 404), ("/unruled", 404), ("/", 200)] {
            #expect(try await TestClient(server).send("GET", path, [Self.zed]).status == status)
            #expect(!line(of: server).contains("rule="), "\(line(of: server))")
        }
    }

    @Test func `the line of a refused forward-auth request names the rule of the original request`() async throws {
        let server = try TestServer(Self.configuration)
        let client = TestClient(server, from: "10.0.0.1", at: "a.proxied.test")
        func check(_ host: String, _ fields: [String]) async throws -> Int {
            let original = [
                "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Method: GET", "X-Forwarded-Proto: https",
                "X-Forwarded-Host: \(host)", "X-Forwarded-Uri: /x?secret",
            ]
            return try await client.send("GET", "/auth/caddy", original + fields).status
        }
        #expect(try await check("a.proxied.test", []) == 401)
        #expect(line(of: server).contains("for=\"GET a.proxied.test/x\" rule=\"realms.conf:13:9 *.proxied.test/\""))
        #expect(try await check("a.proxied.test", [Self.zorro]) == 403)
        #expect(line(of: server).contains(" rule=\"realms.conf:13:9 *.proxied.test/\""))
        #expect(try await check("a.proxied.test", [Self.wrong]) == 401)
        #expect(
            line(of: server).contains(" answers=\"StartWithLoginModule=wrong-credentials\" rule=\"realms.conf:13:9")
        )
        #expect(try await check("elsewhere.test", []) == 403)
        #expect(line(of: server).contains(" rule=none"))
        #expect(try await check("a.proxied.test", [Self.zed]) == 200)
        #expect(!line(of: server).contains("rule="))
        #expect(!server.log.text.contains("secret"))
    }

    @Test func `the reader of logs reads each line that the server writes`() async throws {
        let server = try TestServer(Self.configuration)
        let client = TestClient(server)
        var names = [
            "zed", "z\u{202E}\u{1F600}d", "z\"\\u{41}", "z rule=\"none\" x", "z\u{E9}", "ze\u{301}", "z@\"town",
        ]
        var random = Random(seed: 9)
        for _ in 0..<40 {
            let scalars = (0..<12).map { _ in Unicode.Scalar(UInt32(random.below(0x3000))) ?? "x" }
            names.append("z" + String(String.UnicodeScalarView(scalars)) + "z")
        }
        for name in names {
            let credentials = Data("\(name):x".utf8).base64EncodedString()
            _ = try await client.send("GET", "/zed/a%C3%A9%22", ["Authorization: Basic \(credentials)"])
            let text = "2026-11-22T02:29:33.764Z access: \(line(of: server).dropLast(" [:]".count))"
            guard case .entry(let entry) = LogLine(Array(text.utf8)) else {
                Issue.record("\(text) is not read")
                continue
            }
            #expect(entry.path == "/zed/a\u{E9}\"" && entry[.rule] == "realms.conf:8:9 /zed" || entry.status == 200)
            // A name with control characters is no user name, so no login begins.
            let isName = !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
            if entry[.user] == nil { #expect(!isName || entry.status == 401, "\(text)") }
            if let user = entry[.user] { #expect(user == UTF8Text(name), "\(text)") }
        }
        #expect(line(of: server).contains("rule="))
    }

    @Test func `the lines of a refused sign-in name the rule of the page that was requested`() async throws {
        let server = try TestServer(Self.configuration)
        let client = TestClient(server)
        _ = try await client.signIn("bob", at: "/sign-in?return=/any")
        #expect(line(of: server).contains("module=0 phase=login") && line(of: server).contains("realms.conf:7:9 /any"))
        let refused = try #require(
            server.log.text.split(separator: "\n").first { $0.contains("a sign-in was refused") }
        )
        #expect(refused.contains("realms.conf:7:9 /any"), "\(refused)")
        _ = try await client.signIn("bob")
        #expect(!line(of: server).contains("rule="))
    }
}

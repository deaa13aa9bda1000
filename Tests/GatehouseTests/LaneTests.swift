// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

@testable import Gatehouse
@testable import HTTPServer
@testable import SignIn

/// Tests that a request gets the same response on the event loop and in a task.
@Suite struct LaneTests {
    private static let configuration = """
        default-realm xtech;
        login xtechMyRealm { StartWithLoginModule required; }
        login down { ScriptedLoginModule required login="unavailable"; }
        realm xtech { class StartWithRealm; startWith z; assign-groups Staff; }
        realm "a \\"b\\"" { class StartWithRealm; startWith b; }
        realm down  { class StackRealm; jaas-context down; }
        server { listen 127.0.0.1:0; }
        protect /welcome { require any; }
        protect /welcome/zoe { require user zoe; }
        protect /staff   { require group Staff; }
        protect /nobody  { require group Nobody; }
        protect /other   { realm "a \\"b\\""; require any; }
        protect /down    { realm down; require any; }
        protect /all/style.css { require any; }
        """

    /// Counts the immediate and the deferred responses of a responder.
    private final class CountingResponder: Responder {
        let base: GatehouseResponder
        private let counts = Mutex((immediate: 0, deferred: 0, begunOnEventLoop: 0))

        init(_ base: GatehouseResponder) { self.base = base }

        var immediate: Int { counts.withLock { $0.immediate } }
        var deferred: Int { counts.withLock { $0.deferred } }
        var begunOnEventLoop: Int { counts.withLock { $0.begunOnEventLoop } }

        func respond(to head: borrowing RequestHead, on connection: Connection) -> ResponseMode {
            let reply = base.respond(to: head, on: connection)
            counts.withLock { counts in
                switch reply {
                case .immediate, .refused: counts.immediate += 1
                case .deferred: counts.deferred += 1
                case .prepared(let beginsOnEventLoop, _):
                    counts.deferred += 1
                    if beginsOnEventLoop { counts.begunOnEventLoop += 1 }
                }
            }
            return reply
        }

        func respond(to fault: RequestFault, on connection: Connection) -> PreparedResponse {
            base.respond(to: fault, on: connection)
        }
    }

    private let server: TestServer
    private let asyncServer: TestServer

    init() throws {
        server = try TestServer(Self.configuration)
        asyncServer = try TestServer(Self.configuration, lanes: .asyncOnly)
    }

    private func answer(_ request: String, _ responder: any Responder) async throws -> String {
        try await server.bytes(request, by: responder)
    }

    private static func basic(_ text: String) -> String { "Basic " + Data(text.utf8).base64EncodedString() }

    private static let credentials: [[String]] =
        [[]]
        + [
            basic("zed:x"), basic("zoe:a:b:"), basic("zed:"), basic("bob:x"), basic("bob:"), basic("\u{E9}:x"),
            basic(":x"),
            basic("zed"), basic("z\u{0}d:x"), basic("zed:\u{7F}"), basic(String(repeating: "z", count: 5000) + ":x"),
            "Basic",
            "Basic ", "Basic =", "Basic emVkOng", "Basic emVkOng=x", "Basic emVkOnh=", "Basic\temVkOng=",
            "Bearer emVkOng=",
            "Digest username=\"zed\"", "", "=", "\u{E9}", "basic emVkOng=", "BASIC   emVkOng=",
        ].map { [$0] }
        + [[basic("zed:x"), basic("zed:x")], ["Bearer x", basic("zed:x")], [basic("zed:x"), "Bearer x"], ["", ""]]

    private static let targets = [
        "/", "/welcome", "/welcome/", "/welcome/zoe", "/welcome/a/b?c=d", "/staff", "/nobody", "/other", "/down",
        "/style.css",
        "/all/style.css", "/nothing", "/Welcome", "/w%65lcome", "//welcome", "/welcome//", "/./welcome", "/%2e/welcome",
        "/welcome%2f", "/wel;come", "/%00", "/a%5cb", "/%c3%a9", "/%ff", "/welcome/..", "/style.css/", "/?x",
        "/welcome?",
        "https://a/welcome", "http://A/", "https://a",
    ]

    private static let accepts = [
        "", "text/html", "TEXT/HTML;q=0.1", "text/html;q=0", "text/html; q=0.000 , */*", "*/*", "text/plain",
        "application/xhtml+xml", "text/htmlx,text/*", "text/html;q=0.001", ",,text/html",
    ]

    private static func request(
        _ method: String,
        _ target: String,
        _ credentials: [String] = [],
        version: String = "1.1",
        accept: String = "",
        other: String = ""
    ) -> String {
        "\(method) \(target) HTTP/\(version)\r\nHost: a\r\n" + credentials.map { "Authorization: \($0)\r\n" }.joined()
            + (accept.isEmpty ? "" : "Accept: \(accept)\r\n") + other + "\r\n"
    }

    private static func get(
        _ target: String,
        _ credentials: [String],
        version: String = "1.1",
        accept: String = "",
        other: String = ""
    ) -> String {
        request("GET", target, credentials, version: version, accept: accept, other: other)
    }

    private static let requests: [String] = {
        let (zed, bob) = ([basic("zed:x")], [basic("bob:x")])
        var requests = credentials.flatMap { credentials in
            ["/welcome", "/welcome/zoe", "/other", "/"].map { get($0, credentials) }
        }
        for target in targets {
            requests += [[], zed, bob].map { get(target, $0) } + [request("HEAD", target, zed)]
        }
        for method in ["HEAD", "POST", "OPTIONS", "DELETE", "get", "PROPFIND"] {
            requests += ["/", "/welcome", "/nobody", "/style.css", "/nothing", "//", "/down"].flatMap { target in
                [request(method, target), request(method, target, zed)]
            }
        }
        for accept in accepts {
            requests += ["/", "/welcome", "/nobody", "/nothing", "//", "/down"].map { get($0, zed, accept: accept) }
            requests += [request("HEAD", "/welcome", bob, accept: accept), request("PUT", "/", [], accept: accept)]
        }
        for option in ["", "Connection: keep-alive\r\n", "Connection: close\r\n"] {
            for version in ["1.0", "1.1"] {
                requests += ["/welcome", "/", "/nobody"].flatMap { target in
                    [zed, bob, []].map { get(target, $0, version: version, other: option) }
                }
            }
        }
        requests.append(request("POST", "/welcome", zed, other: "Content-Length: 5\r\n") + "hello")
        requests.append(request("POST", "/welcome", bob, other: "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n")
        return requests
    }()

    @Test func `both lanes return the same bytes, with and without cached credentials`() async throws {
        let fast = CountingResponder(server.responder)
        let slow = CountingResponder(asyncServer.responder)
        for request in Self.requests {
            let wanted = try await answer(request, slow)
            #expect(wanted.hasPrefix("HTTP/1.1 "))
            for time in ["first", "second"] {
                #expect(try await answer(request, fast) == wanted, "\(request.debugDescription), the \(time) time")
            }
        }
        #expect(Self.requests.count > 300)
        #expect(fast.immediate > Self.requests.count)
        #expect(fast.deferred > 20)
        #expect(slow.immediate == 0)
    }

    @Test func `a login begins on the event loop only if no module of its realms may wait`() async throws {
        for (path, beginsOnEventLoop) in [("/welcome", true), ("/down", false)] {
            let responder = CountingResponder(server.responder)
            _ = try await answer(Self.get(path, [Self.basic("zed:x")]), responder)
            #expect(responder.deferred == 1)
            #expect(responder.begunOnEventLoop == (beginsOnEventLoop ? 1 : 0))
        }
    }

    @Test func `accepted credentials are cached, and rejected credentials are not`() async throws {
        let responder = CountingResponder(server.responder)
        for (user, isKnown) in [("zed", true), ("bob", false)] {
            let request = Self.get("/welcome", [Self.basic("\(user):x")])
            let deferred = responder.deferred
            for _ in 0..<3 { _ = try await answer(request, responder) }
            #expect(responder.deferred - deferred == (isKnown ? 1 : 3))
        }
        // Cached credentials are used only for the same name, password and realm.
        let deferred = responder.deferred
        for request in [
            Self.get("/welcome", [Self.basic("zed:y")]), Self.get("/other", [Self.basic("zed:x")]),
            Self.get("/welcome", [Self.basic("zedx:")]),
        ] {
            _ = try await answer(request, responder)
        }
        #expect(responder.deferred - deferred == 3)
        // The rule is evaluated for each request, even if the credentials are cached.
        #expect(try await answer(Self.get("/nobody", [Self.basic("zed:x")]), responder).hasPrefix("HTTP/1.1 403 "))
    }
}

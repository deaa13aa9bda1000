// SPDX-License-Identifier: Apache-2.0

import Bytes
import HTTPTypes
import RealmKit
import RealmTesting
import Testing

@testable import AccessControl
@testable import Gatehouse
@testable import SignIn

/// Tests of the responses to forward-auth requests.
@Suite struct ForwardAuthTests {
    private static let configuration = """
        default-realm town;
        login town { StartWithLoginModule required; }
        login down { ScriptedLoginModule required login="unavailable"; }
        realm town { class StartWithRealm; jaas-context town; startWith z; }
        realm down { class StackRealm; jaas-context down; }
        server { listen 127.0.0.1:0; trusted-proxies 127.0.0.1 10.0.0.0/8; }
        protect app.example/         { auth form basic; require any; }
        protect app.example/zed      { auth form; require user zed; }
        protect app.example/open     { open; }
        protect app.example/closed   { nobody; }
        protect app.example/read     { auth form; require any; methods GET; }
        protect app.example/inside   { auth form; require any; networks 192.0.2.0/24; }
        protect app.example/down     { realm down; auth basic; require any; }
        protect app.example/utf8     { auth form basic; require any; identity-fields utf-8; }
        protect /welcome             { auth form; require any; }
        """

    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(Self.configuration, clock: ManualClock(now: 1_000_000_000_000))
        client = TestClient(server, at: "app.example")
    }

    static let flavours = ["nginx", "caddy", "traefik", "haproxy", "envoy"]

    /// Sends a forward-auth request as a proxy does.
    private func send(
        _ flavour: String,
        _ target: String,
        method: String = "GET",
        host: String = "app.example",
        _ fields: [String] = [],
        by client: TestClient? = nil
    ) async throws -> ParsedResponse {
        let client = client ?? self.client
        var fields = fields
        if !fields.contains(where: { $0.hasPrefix("X-Forwarded-For") }) { fields.append("X-Forwarded-For: 127.0.0.1") }
        switch flavour {
        case "nginx": fields += ["X-Original-URL: https://\(host)\(target)", "X-Original-Method: \(method)"]
        case "envoy":
            let cookies = client[TestClient.session].map { ["Cookie: \(TestClient.session)=\($0)"] } ?? []
            let text = (["Host: \(host)", "X-Forwarded-Proto: https"] + cookies + fields).joined(separator: "\r\n")
            return try ParsedResponse(
                try await server.bytes("\(method) /auth/envoy\(target) HTTP/1.1\r\n\(text)\r\n\r\n", from: client.peer)
            )
        default:
            fields += [
                "X-Forwarded-Method: \(method)", "X-Forwarded-Proto: https", "X-Forwarded-Host: \(host)",
                "X-Forwarded-Uri: \(target)",
            ]
        }
        return try await client.send("GET", "/auth/\(flavour)", fields)
    }

    private func signIn(_ name: String) async throws {
        #expect(try await client.signIn(name).location == "/account")
    }

    @Test(arguments: flavours)
    func `a user with a session is allowed, and the identity fields contain the user`(flavour: String) async throws {
        try await signIn("zed")
        for target in ["/", "/a/b?c=d", "/zed", "/read"] {
            let answer = try await send(flavour, target)
            #expect(answer.status == 200, "\(target)")
            #expect(answer["remote-user"] == "zed")
            #expect(answer["remote-groups"] == "User")
            #expect(answer["remote-realm"] == "town")
            #expect(answer["remote-email"] == "" && answer["remote-name"] == "")
            let removed = flavour == "envoy" ? "remote-email,remote-name,remote-token" : nil
            #expect(answer["x-envoy-auth-headers-to-remove"] == removed)
            #expect(answer.body.isEmpty && answer["set-cookie"] == nil)
        }
    }

    @Test(arguments: flavours)
    func `a rule decides whether the fields are percent-encoded or UTF-8`(flavour: String) async throws {
        let name = "z\u{EB}"
        let credentials = ["Authorization: Basic \(Base64.padded.encode(Array("\(name):x".utf8).span))"]
        for _ in 0..<2 {
            for (target, value) in [("/", "z%C3%AB"), ("/utf8/x", name)] {
                let answer = try await send(flavour, target, credentials, by: TestClient(server))
                #expect(answer.status == 200)
                #expect(answer["remote-user"].map { Array($0.utf8) } == Array(value.utf8))
                #expect(answer["remote-groups"] == "User")
            }
        }
    }

    @Test(arguments: flavours)
    func `CVE-2026-30851: all identity fields are set for an anonymous user, with empty values`(
        flavour: String
    ) async throws {
        let answer = try await send(flavour, "/open", ["Remote-User: root", "Remote_User: root"])
        #expect(answer.status == 200)
        let names = IdentityHeaders.names.map(\.canonicalName)
        for name in names {
            #expect(answer.all(name) == [""])
        }
        let removed = flavour == "envoy" ? names.joined(separator: ",") : nil
        #expect(answer["x-envoy-auth-headers-to-remove"] == removed)
    }

    @Test(arguments: flavours)
    func `a navigation is redirected to the sign-in page, and a script gets 401`(flavour: String) async throws {
        let navigation = ["Sec-Fetch-Mode: navigate", "Accept: text/html"]
        let page = "https://app.example/sign-in?return=/a%3Fb%3Dc"
        let sent = try await send(flavour, "/a?b=c", navigation)
        #expect(sent.location == page)
        #expect(sent.status == (flavour == "nginx" ? 401 : 302))
        let posted = try await send(flavour, "/a?b=c", method: "POST", navigation)
        #expect(posted.status == (flavour == "nginx" ? 401 : 303))
        let script = try await send(flavour, "/a?b=c", ["Sec-Fetch-Mode: cors"])
        #expect(script.status == 401 && script.location == nil)
        #expect(script.all("www-authenticate").map { $0.prefix { $0 != " " } } == ["Cookie"])
        let plain = try await send(flavour, "/a?b=c")
        #expect(plain.status == 401 && plain.location == nil)
        let challenges = plain.all("www-authenticate").map { $0.prefix { $0 != " " } }
        #expect(challenges == (flavour == "nginx" ? ["Basic", "Cookie"] : ["Cookie", "Basic"]))
    }

    @Test(arguments: flavours)
    func `a denial has a status that the proxy understands`(flavour: String) async throws {
        try await signIn("zoe")
        let isStrict = flavour == "nginx" || flavour == "envoy"
        #expect(try await send(flavour, "/zed").status == 403)
        #expect(try await send(flavour, "/closed").status == 403)
        #expect(try await send(flavour, "/read", method: "POST").status == (isStrict ? 403 : 405))
        #expect(try await send(flavour, "/read", method: "HEAD").status == 200)
        #expect(try await send(flavour, "/inside").status == 403)
        // A request that no rule matches is denied.
        // A session is not valid at another host.
        #expect(try await send(flavour, "/welcome", host: "other.example").status == 401)
        let other = TestClient(server, at: "other.example")
        #expect(try await other.signIn("zoe").location == "/account")
        #expect(try await send(flavour, "/welcome", host: "other.example", by: other).status == 200)
        #expect(try await send(flavour, "/", host: "other.example").status == 403)
        let credentials = ["Authorization: Basic emVkOng="]
        #expect(try await send(flavour, "/down", credentials).status == (flavour == "envoy" ? 403 : 503))
        #expect(try await send(flavour, "/", ["Authorization: Basic ="], by: TestClient(server)).status == 403)
    }

    @Test(arguments: flavours)
    func `Basic credentials are accepted if the rule allows Basic, and Envoy removes them from the request`(
        flavour: String
    )
        async throws
    {
        let client = TestClient(server)
        for _ in 0..<2 {
            let answer = try await send(flavour, "/", ["Authorization: Basic emVkOng="], by: client)
            #expect(answer.status == 200 && answer["remote-user"] == "zed")
            #expect(
                answer["x-envoy-auth-headers-to-remove"]
                    == (flavour == "envoy" ? "remote-email,remote-name,remote-token,authorization" : nil)
            )
        }
        #expect(try await send(flavour, "/", ["Authorization: Basic Ym9iOng="], by: client).status == 401)
        #expect(try await send(flavour, "/zed", ["Authorization: Basic emVkOng="], by: client).status == 401)
    }

    @Test(arguments: flavours)
    func `CVE-2021-32637: an ambiguous path is never allowed`(flavour: String) async throws {
        try await signIn("zed")
        let targets = [
            "/open/../zed", "/open/%2e%2e/zed", "/open%2f..%2fzed", "//open", "/open//", "/open;x", "/open\\zed",
            "/%00open", "/%ff", "/open%", "/%252e/open", "open", "/open#x", "/\u{e9}",
        ]
        for target in targets {
            let status = try await send(flavour, target).status
            #expect([400, 403].contains(status), "\(target): \(status)")
        }
        for host in ["", "a b", "app.example@evil.example", "app.example/", "app..example", "app.example:x"] {
            #expect([400, 403].contains(try await send(flavour, "/open", host: host).status), "\(host)")
        }
        for method in ["", "get", "G T", "GET,POST"] where flavour != "envoy" {
            #expect([400, 403].contains(try await send(flavour, "/open", method: method).status), "\(method)")
        }
    }

    @Test(arguments: ["APP.example", "app.example.", "app.example:8443", "App.Example.:443"])
    func `CVE-2026-77560, CVE-2026-48794: the same rule decides for all spellings of a host`(
        host: String
    )
        async throws
    {
        try await signIn("zoe")
        for flavour in Self.flavours {
            #expect(try await send(flavour, "/zed", host: host).status == 403)
            #expect(try await send(flavour, "/x", host: host).status == 200)
        }
    }

    /// A proxy treats every 2xx as permission.
    ///
    /// Therefore these paths never return 2xx, even if a rule for `/` allows the request.
    @Test(arguments: flavours)
    func `a forward-auth path gets 403 without trusted proxies or with another prefix`(
        flavour: String
    ) async throws {
        let rule = """
            default-realm town;
            login town { StartWithLoginModule required; }
            realm town { class StartWithRealm; jaas-context town; startWith z; }
            server { listen 127.0.0.1:0; SETTINGS }
            protect / { auth basic; require any; }
            protect /open { open; }
            """
        let fields = [
            "Authorization: Basic emVkOng=", "X-Original-URL: https://app.example/closed", "X-Original-Method: GET",
            "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Method: GET", "X-Forwarded-Proto: https",
            "X-Forwarded-Host: app.example", "X-Forwarded-Uri: /closed",
        ]
        for (settings, path) in [
            ("", "/auth/\(flavour)"), ("", "/gatehouse/auth/\(flavour)"), ("", "/open/auth/\(flavour)/x"),
            ("sign-in { prefix /gatehouse; }", "/auth/\(flavour)"),
            ("sign-in { prefix /gatehouse; }", "/gatehouse/auth/\(flavour)"),
            ("sign-in { prefix /gatehouse; }", "/gatehouse/auth/"),
        ] {
            let server = try TestServer(rule.replacing("SETTINGS", with: settings))
            let answer = try await TestClient(server, at: "app.example").send("GET", path, fields)
            #expect(answer.status == 403, "\(settings) \(path)")
            #expect(try await TestClient(server).send("GET", "/closed", [fields[0]]).status == 200)
        }
        // A trusted proxy with another prefix.
        let server = try TestServer(rule.replacing("SETTINGS", with: "trusted-proxies 127.0.0.1; forwarded-host on;"))
        #expect(try await TestClient(server).send("GET", "/gatehouse/auth/\(flavour)", fields).status == 403)
    }

    @Test func `CVE-2026-40575: a peer that is not a trusted proxy gets no forward-auth answer`() async throws {
        try await signIn("zed")
        let stranger = TestClient(server, from: "192.0.2.7")
        stranger[TestClient.session] = client[TestClient.session]
        for flavour in Self.flavours {
            let answer = try await send(flavour, "/", by: stranger)
            #expect(answer.status == 403 && answer["remote-user"] == nil)
        }
        // A server without trusted proxies.
        let alone = try TestServer(
            """
            login a { StartWithLoginModule required; }
            realm a { class StartWithRealm; jaas-context a; }
            protect h/ { realm a; require any; }
            """
        )
        let answer = try ParsedResponse(
            try await alone.bytes(
                "GET /auth/nginx HTTP/1.1\r\nHost: x\r\nX-Original-URL: https://h/\r\nX-Original-Method: GET\r\n\r\n"
            )
        )
        #expect(answer.status == 403)
    }

    @Test func `a forward-auth request with a wrong path is denied with 403`() async throws {
        try await signIn("zed")
        for path in [
            "/auth", "/%61uth/nginx", "/auth/ngin%78", "/auth/", "/auth/x", "/auth/nginx/", "/auth/nginx/x",
            "/auth/nginx/page/", "/auth/nginx/page/x", "/auth/nginx/p%61ge", "/auth/caddy/page",
            "/auth/envoyopen", "/auth/NGINX",
        ] {
            let answer = try await client.send(
                "GET",
                path,
                ["X-Original-URL: https://app.example/", "X-Original-Method: GET", "X-Forwarded-For: 192.0.2.9"]
            )
            #expect(answer.status == 403, "\(path)")
        }
    }

    @Test func `CVE-2026-33433, CVE-2026-54763: repeated fields and look-alike names are not used`()
        async throws
    {
        try await signIn("zed")
        let from = "X-Forwarded-For: 192.0.2.9"
        let good = ["X-Original-URL: https://app.example/open", "X-Original-Method: GET", from]
        #expect(try await client.send("GET", "/auth/nginx", good).status == 200)
        for fields in [
            good + ["X-Original-URL: https://app.example/open"], good + ["x-original-method: GET"],
            ["X_Original_URL: https://app.example/open", "X-Original-Method: GET", from], [good[0], from],
            [good[1], from], [from], ["X-Original-URL: http://app.example/open", good[1], from],
            ["X-Original-URL: ftp://app.example/open", good[1], from], ["X-Original-URL: /open", good[1], from],
            // Without X-Forwarded-For, the client would have the address of the proxy.
            Array(good.dropLast()),
        ] {
            #expect(try await client.send("GET", "/auth/nginx", fields).status == 403, "\(fields)")
        }
    }

    @Test func `the client address is the address that the last trusted proxy has added`() async throws {
        try await signIn("zed")
        let cases: [([String], Int)] = [
            (["X-Forwarded-For: 127.0.0.1"], 403), (["X-Forwarded-For: 192.0.2.9"], 200),
            (["X-Forwarded-For: 192.0.2.9, 198.51.100.1"], 403),
            (["X-Forwarded-For: 198.51.100.1, 192.0.2.9"], 200), (["X-Forwarded-For: 192.0.2.9, 10.1.2.3"], 200),
            (["X-Forwarded-For: 192.0.2.9", "X-Forwarded-For: 198.51.100.1"], 403),
            (["X_Forwarded_For: 192.0.2.9"], 403), (["X-Real-IP: 192.0.2.9"], 403),
            (["Forwarded: for=192.0.2.9"], 403),
            // CVE-2024-47070: a request with an unreadable address is denied, with a status that the proxy understands.
            (["X-Forwarded-For: unknown"], 403), (["X-Forwarded-For: 192.0.2.9,"], 403), (["X-Forwarded-For: "], 403),
        ]
        for (fields, status) in cases {
            #expect(try await send("nginx", "/inside", fields).status == status, "\(fields)")
        }
    }

    @Test func `CVE-2026-34457: no value of User-Agent and no path bypasses a rule`() async throws {
        for agent in ["kube-probe/1.29", "GoogleHC/1.0", "ELB-HealthChecker/2.0", "PingdomBot"] {
            #expect(try await send("nginx", "/", ["User-Agent: \(agent)"]).status == 401)
            #expect(try await client.send("GET", "/welcome", ["User-Agent: \(agent)"]).status == 401)
        }
        #expect(try await send("nginx", "/health").status == 401)
    }

    @Test func `the explanation agrees with the decision`() async throws {
        let targets = ["/", "/a/b", "/zed", "/open", "/closed", "/read", "/inside", "/%2e%2e/zed"]
        for name in [nil, "zed", "zoe"] {
            let client = TestClient(server, at: "app.example")
            if let name { _ = try await client.signIn(name) }
            let user = try name.map {
                SignedInUser(realm: "town", username: try Username($0), groups: ["User"])
            }
            for target in targets {
                for (host, method) in [("app.example", "GET"), ("app.example", "POST"), ("other.example", "GET")] {
                    let answer = try await send("caddy", target, method: method, host: host, by: client)
                    let explained = server.accessController.rules.explain(
                        Explanation.Request(
                            method: method,
                            url: "https://\(host)\(target)",
                            user: user,
                            peer: "127.0.0.1"
                        )
                    )
                    // A proxy gets 403 instead of 400.
                    let expected = explained.status == 400 ? 403 : explained.status
                    #expect(answer.status == expected, "\(method) \(host)\(target): \(explained.lines[0])")
                }
            }
        }
    }

    @Test func `an X-Forwarded-Host that a proxy forwards from the client does not bypass a rule`() async throws {
        // A rule applies to all paths of app.example. No rule applies to house.example.
        let host = "X-Forwarded-Host: app.example"
        #expect(try await TestClient(server).send("GET", "/elsewhere", [host]).status == 400)
        #expect(server.log.text.contains("\"X-Forwarded-Host and Host name different hosts\""))
        #expect(try await TestClient(server, from: "192.0.2.1").send("GET", "/elsewhere", [host]).status == 404)
        // Two spellings of the same host are accepted.
        for host in ["house.example", "HOUSE.example.:8443"] {
            #expect(try await TestClient(server).send("GET", "/elsewhere", ["X-Forwarded-Host: \(host)"]).status == 404)
        }
        for fields in [["X-Forwarded-Host: "], ["X-Forwarded-Host: a, b"], Array(repeating: host, count: 2)] {
            #expect(try await TestClient(server).send("GET", "/elsewhere", fields).status == 400, "\(fields)")
        }
    }

    @Test func `with forwarded-host on, X-Forwarded-Host of a trusted proxy is the host`() async throws {
        let text = Self.configuration.replacing("trusted-proxies", with: "forwarded-host on; trusted-proxies")
        let server = try TestServer(text)
        let host = "X-Forwarded-Host: app.example"
        #expect(try await TestClient(server).send("GET", "/elsewhere", [host]).status == 401)
        #expect(try await TestClient(server, from: "192.0.2.1").send("GET", "/elsewhere", [host]).status == 404)
        for fields in [["X-Forwarded-Host: "], Array(repeating: host, count: 2)] {
            #expect(try await TestClient(server).send("GET", "/elsewhere", fields).status == 400, "\(fields)")
        }
    }

    @Test func `the log contains the original request without its query`() async throws {
        _ = try await send("nginx", "/a?secret=1")
        #expect(server.log.text.contains("for=\"GET app.example/a\""))
        #expect(!server.log.text.contains("secret"))
    }

    @Test func `HTTP/1.0 clients and HEAD requests are answered`() async throws {
        try await signIn("zed")
        let cookie = "Cookie: \(TestClient.session)=\(try #require(client[TestClient.session]))"
        let fields =
            "X-Original-URL: https://app.example/\r\nX-Original-Method: GET\r\nX-Forwarded-For: 192.0.2.9\r\n\(cookie)\r\nConnection: close\r\n"
        for line in ["GET /auth/nginx HTTP/1.0", "HEAD /auth/nginx HTTP/1.0", "GET /auth/nginx?x=y HTTP/1.0"] {
            let answer = try ParsedResponse(try await server.bytes("\(line)\r\n\(fields)\r\n"))
            #expect(answer.status == 200 && answer["remote-user"] == "zed", "\(line)")
        }
    }

    @Test func `names and groups with special characters are percent-encoded in identity fields`() async throws {
        try await signIn("z\u{E9}, %\u{1F600}")
        let answer = try await send("nginx", "/")
        #expect(answer["remote-user"] == "z%C3%A9%2C%20%25%F0%9F%98%80")
    }
}

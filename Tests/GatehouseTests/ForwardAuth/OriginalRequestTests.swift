// SPDX-License-Identifier: Apache-2.0

import Bytes
import SeededRandom
import Testing

@testable import AccessControl
@testable import Gatehouse

struct OriginalRequestTests {
    /// A forward-auth request of a proxy.
    struct Sent {
        var fields: [(name: String, value: String)]
        var method = "GET"
        var target = "/auth"
        var host: String? = "gate.example"

        func read(_ flavour: ForwardAuthProxy) -> OriginalRequest.Outcome {
            OriginalRequest.read(description, from: flavour)
        }

        var description: OriginalRequest.Description {
            OriginalRequest.Description(
                values: { name in fields.filter { $0.name == "\(name)" }.map { UTF8Text($0.value) } },
                method: method,
                target: target,
                host: host
            )
        }
    }

    static func sent(
        _ flavour: ForwardAuthProxy,
        uri: String = "/admin/x?y=1",
        host: String = "App.Example.com:8443"
    ) -> Sent {
        switch flavour {
        case .nginx:
            Sent(fields: [("x-original-url", "https://\(host)\(uri)"), ("x-original-method", "POST")])
        case .caddy, .traefik, .haproxy:
            Sent(fields: [
                ("x-forwarded-method", "POST"), ("x-forwarded-proto", "https"), ("x-forwarded-host", host),
                ("x-forwarded-uri", uri),
            ])
        case .envoy:
            Sent(
                fields: [("x-forwarded-proto", "https")],
                method: "POST",
                target: "/auth/envoy" + uri,
                host: host
            )
        }
    }

    private func isRefused(_ outcome: OriginalRequest.Outcome) -> Bool {
        if case .rejected(let reason) = outcome { !reason.isEmpty } else { false }
    }

    @Test(arguments: ForwardAuthProxy.allCases)
    func `the original request of every proxy is read`(flavour: ForwardAuthProxy) throws {
        guard case .request(let request) = Self.sent(flavour).read(flavour) else {
            Issue.record("refused")
            return
        }
        #expect(request.method == "POST")
        #expect(request.scheme == .https)
        #expect(request.host.name == "app.example.com" && request.host.port == 8443)
        #expect(request.path.path.text == "/admin/x")
        #expect(request.target == "/admin/x?y=1")
        #expect(request.url == "https://app.example.com:8443/admin/x?y=1")
    }

    @Test(arguments: ForwardAuthProxy.allCases)
    func `a missing, empty or repeated field is refused`(flavour: ForwardAuthProxy) {
        let sent = Self.sent(flavour)
        for index in sent.fields.indices {
            var changed = sent
            changed.fields.remove(at: index)
            #expect(isRefused(changed.read(flavour)), "without \(sent.fields[index].name)")
            changed = sent
            changed.fields.append(sent.fields[index])
            #expect(isRefused(changed.read(flavour)), "two of \(sent.fields[index].name)")
            changed = sent
            changed.fields[index].value = ""
            #expect(isRefused(changed.read(flavour)), "empty \(sent.fields[index].name)")
            changed.fields[index].value = sent.fields[index].value + ", " + sent.fields[index].value
            #expect(isRefused(changed.read(flavour)), "a list in \(sent.fields[index].name)")
        }
    }

    @Test(
        arguments: ForwardAuthProxy.allCases,
        [
            "/a//b", "/a/../b", "/a/%2e%2e/b", "/a%2fb", "/a;b", "/a\\b", "/a%00", "/a%zz", "/é", "/a b", "/a\r\nb",
            "/a?b c",
            "/a?b\u{0}", "/a?é", "/" + String(repeating: "a", count: 8192),
            "/?" + String(repeating: "a", count: 16_383),
        ]
    )
    func `CVE-2021-32637: an ambiguous target is refused`(flavour: ForwardAuthProxy, uri: String) {
        #expect(isRefused(Self.sent(flavour, uri: uri).read(flavour)))
    }

    @Test(arguments: ForwardAuthProxy.allCases, ["/admin#/public", "/admin?x#y", "/#"])
    func `CVE-2026-41059: a fragment in the original target is refused`(flavour: ForwardAuthProxy, uri: String) {
        #expect(isRefused(Self.sent(flavour, uri: uri).read(flavour)))
    }

    @Test(
        arguments: ForwardAuthProxy.allCases,
        ["u@a.example", "a.example@b", "a b", "", "a,b", "a.example:99999", "a_b,c", "é"]
    )
    func `an invalid host is refused`(flavour: ForwardAuthProxy, host: String) {
        #expect(isRefused(Self.sent(flavour, host: host).read(flavour)))
    }

    @Test(arguments: ["get", "GET ", "G\u{0}", "", "GET1", "CONNECT", String(repeating: "A", count: 33)])
    func `an invalid method, a method longer than 32 bytes and CONNECT are refused`(method: String) {
        var caddy = Self.sent(.caddy)
        caddy.fields[0].value = method
        #expect(isRefused(caddy.read(.caddy)))
        var envoy = Self.sent(.envoy)
        envoy.method = method
        #expect(isRefused(envoy.read(.envoy)))
    }

    @Test(arguments: ["ftp", "HTTPS", "https:", "javascript", "http,https", "file"])
    func `a scheme other than http and https is refused`(scheme: String) {
        for flavour in [ForwardAuthProxy.caddy, .traefik, .haproxy, .envoy] {
            var sent = Self.sent(flavour)
            for index in sent.fields.indices where sent.fields[index].name == "x-forwarded-proto" {
                sent.fields[index].value = scheme
            }
            #expect(isRefused(sent.read(flavour)), "\(flavour)")
        }
    }

    @Test func `a WebSocket scheme counts as https`() {
        var sent = Self.sent(.traefik)
        sent.fields[1].value = "wss"
        guard case .request(let request) = sent.read(.traefik) else {
            Issue.record("refused")
            return
        }
        #expect(request.scheme == .https)
    }

    @Test(arguments: [
        "/admin", "//h/a", "h/a", "https:/h/a", "https:///a", "https://", "ftp://h/a", "https://h\\@e/a", "*",
    ])
    func `an X-Original-URL that is not a complete URL is refused`(url: String) {
        var sent = Self.sent(.nginx)
        sent.fields[0].value = url
        #expect(isRefused(sent.read(.nginx)))
    }

    @Test(arguments: ["https://h", "https://h?x", "HTTP://h/"])
    func `a URL without a path has the path /`(url: String) {
        var sent = Self.sent(.nginx)
        sent.fields[0].value = url
        guard case .request(let request) = sent.read(.nginx) else {
            Issue.record("refused")
            return
        }
        #expect(request.path.path.text == "/" && request.target.hasPrefix("/"))
    }

    @Test(arguments: [
        "/auth/envoy", "/auth/envoyadmin", "/auth", "/", "/auth/envoy?x", "/auth//envoy/a", "http://h/auth/envoy/a",
    ])
    func `a target from Envoy without the prefix or without a path is refused`(target: String) {
        var sent = Self.sent(.envoy)
        sent.target = target
        #expect(isRefused(sent.read(.envoy)))
    }

    @Test func `a request from Envoy without a host is refused`() {
        var sent = Self.sent(.envoy)
        sent.host = nil
        #expect(isRefused(sent.read(.envoy)))
    }

    @Test(arguments: [ForwardAuthProxy.nginx, .caddy, .traefik, .haproxy])
    func `query, host and method of the forward-auth request itself are not used`(flavour: ForwardAuthProxy) {
        var sent = Self.sent(flavour)
        let plain = sent.read(flavour)
        sent.target = "/auth?x-forwarded-uri=/public&rd=https://evil.example#"
        sent.host = "evil.example"
        sent.method = "DELETE"
        #expect(sent.read(flavour) == plain)
    }

    @Test(arguments: ForwardAuthProxy.allCases)
    func `CVE-2025-64484, CVE-2026-39858, CVE-2026-35051, CVE-2026-54764: look-alike field names are not used`(
        flavour: ForwardAuthProxy
    ) {
        var sent = Self.sent(flavour)
        let plain = sent.read(flavour)
        for name in [
            "x_forwarded_uri", "x-forwarded_uri", "X-Forwarded-Uri", "x-forwarded-prefix", "x-forwarded-port",
            "forwarded",
        ] {
            sent.fields.append((name, "/public"))
        }
        #expect(sent.read(flavour) == plain)
    }

    @Test(arguments: ForwardAuthProxy.allCases)
    func `CVE-2024-45410, CVE-2026-29054: a Connection field does not hide other fields`(flavour: ForwardAuthProxy) {
        var sent = Self.sent(flavour)
        let plain = sent.read(flavour)
        sent.fields += [("connection", "x-forwarded-uri, x-original-url, X-Forwarded-Host"), ("te", "trailers")]
        #expect(sent.read(flavour) == plain)
    }

    @Test(arguments: ForwardAuthProxy.allCases)
    func `reading the URL of an accepted request returns the same target and host`(flavour: ForwardAuthProxy) {
        var random = Random(seed: 21)
        let pieces = [
            "/", "a", "%2f", "%61", "..", "?", "#", ";", "\\", "@", ":", " ", "é", "\u{0}", "//", "https://", "b.c",
            "%",
        ]
        var read = 0
        for _ in 0..<4000 {
            let uri = "/" + (0..<random.below(5)).map { _ in random.pick(pieces) }.joined()
            let host = random.pick(["a.example", "a", "A.", "a@b", "a:1"])
            guard case .request(let request) = Self.sent(flavour, uri: uri, host: host).read(flavour) else { continue }
            read += 1
            #expect(RequestPath(target: request.target) == request.path.path, "\(uri)")
            #expect(RequestHost(request.host.text) == request.host, "\(host)")
            #expect(request.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }, "\(uri)")
        }
        #expect(read > 200)
    }
}

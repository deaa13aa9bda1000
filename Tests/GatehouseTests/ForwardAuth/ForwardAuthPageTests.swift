// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Testing

@testable import AccessControl
@testable import SignIn

/// Tests of the pages for users whose requests are denied behind a proxy.
@Suite struct ForwardAuthPageTests {
    private static let configuration = """
        default-realm town;
        login town { StartWithLoginModule required; }
        login down { ScriptedLoginModule required login="unavailable"; }
        realm town { class StartWithRealm; jaas-context town; startWith z; }
        realm down { class StackRealm; jaas-context down; }
        server { listen 127.0.0.1:0; trusted-proxies 127.0.0.1; sign-in { prefix /gatehouse; } }
        protect app.example/         { auth form; require any; }
        protect app.example/zed      { auth form; require user zed; }
        protect app.example/closed   { nobody; }
        protect app.example/read     { auth form; require any; methods GET; }
        protect app.example/down     { realm down; auth basic; require any; }
        """
    private static let navigation = ["Sec-Fetch-Mode: navigate", "Accept: text/html"]
    private static let flavours = ["nginx", "caddy", "traefik", "haproxy", "envoy"]

    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(Self.configuration, clock: ManualClock(now: 1_000_000_000_000))
        client = TestClient(server, at: "app.example")
    }

    /// Sends a forward-auth request as a proxy does.
    private func send(
        _ flavour: String,
        _ path: String,
        method: String = "GET",
        host: String = "app.example",
        _ fields: [String] = navigation
    ) async throws -> ParsedResponse {
        var fields = fields + ["X-Forwarded-For: 192.0.2.9", "X-Forwarded-Proto: https"]
        if flavour == "envoy" {
            let cookies = client[TestClient.session].map { ["Cookie: \(TestClient.session)=\($0)"] } ?? []
            let text = (["Host: \(host)"] + fields + cookies).joined(separator: "\r\n")
            let request = "\(method) /gatehouse/auth/envoy\(path) HTTP/1.1\r\n\(text)\r\n\r\n"
            return try ParsedResponse(try await server.bytes(request, from: client.peer))
        }
        fields +=
            flavour == "nginx"
            ? ["X-Original-URL: https://\(host)\(path)", "X-Original-Method: \(method)"]
            : ["X-Forwarded-Method: \(method)", "X-Forwarded-Host: \(host)", "X-Forwarded-Uri: \(path)"]
        return try await client.send("GET", "/gatehouse/auth/\(flavour)", fields)
    }

    private func signIn(_ name: String) async throws {
        #expect(try await client.signIn(name, at: "/gatehouse/sign-in").location == "/gatehouse/account")
    }

    @Test(arguments: flavours)
    func `a browser whose user is not allowed gets a page with the user and the button to sign out`(
        flavour: String
    ) async throws {
        try await signIn("zoe")
        let answer = try await send(flavour, "/zed")
        #expect(answer.status == 403 && answer["content-type"] == "text/html; charset=utf-8")
        #expect(answer.body.contains("signed in as zoe"))
        #expect(answer.body.contains("action=\"/gatehouse/sign-out\""))
        #expect(answer.body.contains("href=\"/gatehouse/style.css\""))
        #expect(answer["content-security-policy"]?.contains("style-src 'self'") == true)
        #expect(answer["cache-control"] == "no-store" && answer["remote-user"] == nil)
        #expect(answer["www-authenticate"] == nil)
    }

    @Test(arguments: flavours)
    func `a program whose user is not allowed gets text`(flavour: String) async throws {
        try await signIn("zoe")
        for fields in [[], ["Sec-Fetch-Mode: cors", "Accept: */*"], ["Accept: application/json"]] {
            let answer = try await send(flavour, "/zed", fields)
            #expect(answer.status == 403 && answer["content-type"] == "text/plain; charset=utf-8", "\(fields)")
            #expect(!answer.body.contains("<"))
        }
    }

    @Test(arguments: flavours)
    func `a browser gets a page for every other denial`(flavour: String) async throws {
        try await signIn("zoe")
        let isStrict = flavour == "nginx" || flavour == "envoy"
        let denials: [(path: String, method: String, host: String, status: Int)] = [
            ("/closed", "GET", "app.example", 403), ("/read", "POST", "app.example", isStrict ? 403 : 405),
            ("/", "GET", "other.example", 403),
        ]
        for denial in denials {
            let answer = try await send(flavour, denial.path, method: denial.method, host: denial.host)
            #expect(answer.status == denial.status, "\(denial)")
            #expect(answer["content-type"] == "text/html; charset=utf-8", "\(denial)")
            #expect((answer["allow"] != nil) == (denial.status == 405), "\(denial)")
        }
        let answer = try await send(flavour, "/down", Self.navigation + ["Authorization: Basic emVkOng="])
        #expect(answer.status == (flavour == "envoy" ? 403 : 503) && answer.body.contains("<main>"))
        #expect(answer["retry-after"] == (flavour == "envoy" ? nil : "5"))
    }
}

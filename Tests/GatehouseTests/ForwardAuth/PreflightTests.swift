// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Testing

@testable import AccessControl
@testable import Gatehouse

/// Checks of CORS preflights, and of paths that programs may read differently.
@Suite struct PreflightTests {
    private static let configuration = """
        default-realm town;
        login town { StartWithLoginModule required; }
        realm town { class StartWithRealm; jaas-context town; startWith z; }
        server { listen 127.0.0.1:0; trusted-proxies 127.0.0.1; cors-preflights api.example; }
        protect api.example/         { auth form basic; require any; methods GET POST; }
        protect api.example/admin    { auth form basic; require user zed; }
        protect api.example/closed   { nobody; }
        protect www.example/         { auth basic; require any; }
        protect npm.example/         { auth basic; require any; ambiguous-paths allow; }
        protect npm.example/private  { auth basic; require user zed; ambiguous-paths allow; }
        protect npm.example/plain    { auth basic; require any; }
        """
    private static let flavours = ["nginx", "caddy", "traefik", "haproxy", "envoy"]
    private static let preflight = ["Origin: https://www.example", "Access-Control-Request-Method: POST"]
    private static let zorro = ["Authorization: Basic em9ycm86eA=="]

    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(Self.configuration)
        client = TestClient(server)
    }

    private func preflight(
        _ flavour: String,
        _ target: String,
        at host: String = "api.example",
        method: String = "OPTIONS",
        _ fields: [String] = preflight
    ) async throws -> ParsedResponse {
        try await client.check(flavour, at: host, target, method: method, fields)
    }

    @Test(arguments: flavours)
    func `a CORS preflight is allowed without a login and without an identity`(flavour: String) async throws {
        for (target, host) in [("/x", "api.example"), ("/admin/x?y", "API.example:8443")] {
            let answer = try await preflight(flavour, target, at: host, Self.preflight + Self.zorro)
            #expect(answer.status == 200, "\(target)")
            #expect(IdentityHeaders.names.allSatisfy { answer.all($0.canonicalName) == [""] })
        }
    }

    @Test(arguments: flavours)
    func `no other request is allowed as a preflight`(flavour: String) async throws {
        let fields = Self.preflight
        for sent in [
            [], [fields[0]], [fields[1]], fields + [fields[0]], fields + [fields[1]], ["Origin:", fields[1]],
            // As proxies join fields that occur twice.
            ["\(fields[0]), https://a.example", fields[1]], [fields[0], "\(fields[1]), DELETE"],
        ] {
            #expect(try await preflight(flavour, "/admin", sent).status == 401, "\(sent)")
        }
        for method in ["GET", "POST", "OPTIONSS"] {
            #expect(try await preflight(flavour, "/admin", method: method).status == 401)
        }
        #expect(try await preflight(flavour, "/closed").status == 403)
        #expect(try await preflight(flavour, "/x", at: "www.example").status == 401)
        #expect(try await preflight(flavour, "/x", at: "other.example").status == 403)
        // No rule for the path allows the method.
        let put = ["Origin: https://www.example", "Access-Control-Request-Method: PUT"]
        #expect([403, 405].contains(try await preflight(flavour, "/x", put).status))
    }

    @Test(arguments: flavours)
    func `an ambiguous path is decided by a rule that allows it, if all its readings lead to this rule`(
        flavour: String
    ) async throws {
        for target in ["/@scope%2fname?x=%2f", "/a%25", "/a;b/c", "/a//b", "/%23a%3Fb", "/private/a%2Fb"] {
            let isPrivate = target.hasPrefix("/private")
            let answer = try await client.check(flavour, at: "npm.example", target, Self.zorro)
            #expect(answer.status == (isPrivate ? 403 : 200), "\(target)")
            #expect(isPrivate || answer["remote-user"] == "zorro")
        }
        let anonymous = try await client.check(flavour, at: "npm.example", "/@scope%2fname")
        #expect(anonymous.status == 401)
        for target in [
            "/private%2fname", "//private/name", "/private;x/name", "/;/private", "/plain%2Fx", "/plain/a%2Fb",
            "/x%2f..%2fprivate",
            "/private%252fname", "/private%3f", "/a%5cb", "/a%2500", "/a%ff;",
        ] {
            let answer = try await client.check(flavour, at: "npm.example", target, Self.zorro)
            #expect(answer.status == 403 && answer["remote-user"] == nil, "\(target)")
            let line = server.log.text.split(separator: "\n").last { $0.contains("us ") }?.description ?? ""
            #expect(line.contains("\"the path is ambiguous: ") && !line.contains("rule="), "\(line)")
        }
        for target in ["/a%2fb", "/a//b", "/a;b"] {
            #expect(try await client.check(flavour, at: "www.example", target, Self.zorro).status == 403, "\(target)")
        }
    }

    @Test func `the server's own pages never have an ambiguous path`() async throws {
        let server = try TestServer(Self.configuration + "\nprotect / { open; ambiguous-paths allow; }")
        for target in ["/a%2fb", "//", "/sign-in;x"] {
            #expect(try await TestClient(server, at: "npm.example").send("GET", target).status == 400, "\(target)")
        }
    }
}

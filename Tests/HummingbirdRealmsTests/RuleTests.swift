// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdRealms
import Testing

@Suite struct RuleTests {
    private static let rules = """
        protect /public { open; }
        protect /staff { auth form basic; require group Staff; }
        protect /programs { auth basic; require any; }
        protect /admin { nobody; }
        protect /inside { require any; networks 10.0.0.0/8; }
        """

    @Test func `rules decide about the routes of the application`() async throws {
        let fixture = try await RealmsFixture(rules: Self.rules)
        let application = fixture.ruled()
        let cookie = try await fixture.signIn("ann", at: application)
        #expect(try await application.send(.get, "/public/a").text == "nobody")
        #expect(try await application.send(.get, "/staff/a").status == 401)
        #expect(try await application.send(.get, "/staff/a", [.accept: "text/html"]).status == 302)
        #expect(try await application.send(.get, "/staff/a", basic("ann")).text == "ann")
        #expect(try await application.send(.get, "/staff/a", [.cookie: cookie]).text == "ann")
        #expect(try await application.send(.get, "/staff/a", basic("ben")).status == 403)
        #expect(try await application.send(.get, "/programs", [.cookie: cookie]).status == 401)
        #expect(try await application.send(.get, "/programs", [.accept: "text/html"]).status == 401)
        #expect(try await application.send(.get, "/admin", basic("ann")).status == 403)
        #expect(
            try await application.send(.post, "/staff", [.cookie: cookie, .origin: "https://evil.example"]).status
                == 403
        )
        #expect(try await application.send(.post, "/staff", [.cookie: cookie]).text == "ann")
    }

    @Test func `the client address is the peer address, or the address that a trusted proxy has added`() async throws {
        let plain = try await RealmsFixture(rules: Self.rules).ruled()
        let forwarded = try #require(HTTPField.Name("X-Forwarded-For"))
        var headers = basic("ann")
        #expect(try await plain.send(.get, "/inside", headers, from: "10.1.1.1").text == "ann")
        #expect(try await plain.send(.get, "/inside", headers, from: "192.0.2.1").status == 403)
        #expect(try await plain.send(.get, "/inside", headers, from: nil).status == 403)
        headers[forwarded] = "10.1.1.1"
        #expect(try await plain.send(.get, "/inside", headers, from: "192.0.2.1").status == 403)
        let behind = try await RealmsFixture(rules: Self.rules, server: "trusted-proxies 192.0.2.1;").ruled()
        #expect(try await behind.send(.get, "/inside", headers, from: "192.0.2.1").text == "ann")
        #expect(try await behind.send(.get, "/inside", headers, from: "192.0.2.2").status == 403)
        headers[forwarded] = "10.1.1.1, 192.0.2.7"
        #expect(try await behind.send(.get, "/inside", headers, from: "192.0.2.1").status == 403)
        headers[forwarded] = "nonsense"
        #expect(try await behind.send(.get, "/inside", headers, from: "192.0.2.1").status == 400)
    }

    @Test func `X-Forwarded-Host is used only from a trusted proxy, and only if the setting is on`() async throws {
        let rules = "protect a.example/x { require any; } protect b.example/x { open; }"
        let field = try #require(HTTPField.Name("X-Forwarded-Host"))
        for (setting, peer, host, named, status) in [
            ("", "192.0.2.1", "b.example", "a.example", 400), ("", "192.0.2.2", "b.example", "a.example", 200),
            ("", "192.0.2.1", "b.example", "B.Example.", 200),
            ("", "192.0.2.1", "b.example", "b.example, a.example", 400),
            ("forwarded-host on;", "192.0.2.1", "b.example", "a.example", 401),
            ("forwarded-host on;", "192.0.2.1", "a.example", "b.example", 200),
            ("forwarded-host on;", "192.0.2.2", "a.example", "b.example", 401),
            ("forwarded-host on;", "192.0.2.1", "a.example", "not a host", 400),
        ] {
            let application = try await RealmsFixture(rules: rules, server: "trusted-proxies 192.0.2.1; \(setting)")
                .ruled()
            let answer = try await application.send(.get, "/x", [field: named], from: peer, host: host)
            #expect(answer.status == status, "\(setting) \(peer) \(host) \(named)")
            // The pages use the same host.
            let page = try await application.send(.get, "/sign-in", [field: named], from: peer, host: host)
            #expect(page.status == (status == 400 ? 400 : 200), "\(setting) \(peer) \(host) \(named)")
        }
    }

    @Test func `rules match the host of the request, and a target with a different host gets 400`() async throws {
        let rules = "protect a.example/x { require any; } protect b.example/x { open; }"
        let application = try await RealmsFixture(rules: rules).ruled()
        #expect(try await application.send(.get, "/x", host: "b.example").text == "nobody")
        #expect(try await application.send(.get, "/x", host: "A.Example:8443").status == 401)
        #expect(try await application.send(.get, "/x", host: "c.example").status == 403)
        #expect(try await application.send(.get, "https://b.example/x", host: "a.example").status == 400)
        #expect(try await application.send(.get, "https://a.example/x", host: "a.example").status == 401)
        #expect(try await application.send(.get, "/x", host: "").status == 400)
    }

    @Test func `requests that no rule matches are denied by default, and allowed with .open`() async throws {
        let fixture = try await RealmsFixture(rules: Self.rules)
        #expect(try await fixture.ruled().send(.get, "/other", basic("ann")).status == 403)
        #expect(try await fixture.ruled(.open).send(.get, "/other").text == "nobody")
    }

    @Test(arguments: [
        "/public/../staff", "/%2e%2e/staff", "//staff", "/public%2F..%2Fstaff", "/staff;x", "/a%00", "/%ff", "",
    ])
    func `an ambiguous path gets 400`(path: String) async throws {
        let fixture = try await RealmsFixture(rules: Self.rules)
        #expect(try await fixture.ruled(.open).send(.get, path, basic("ann")).status == 400)
    }
}

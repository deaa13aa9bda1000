// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import HummingbirdRealms
import Testing

/// An application whose hosts share one sign-in host.
@Suite struct SignInHostTests {
    private let navigation: HTTPFields

    init() throws {
        let mode = try #require(HTTPField.Name("Sec-Fetch-Mode"))
        navigation = [mode: "navigate", .accept: "text/html"]
    }

    @Test func `a request without a session is redirected to the sign-in host, with the cookie of the hand-over`()
        async throws
    {
        let fixture = try await RealmsFixture(
            rules: """
                protect app.example/ { auth form; require any; }
                protect *.wiki.example/ { auth form; require any; }
                """,
            server: "sign-in { host auth.example; }"
        )
        let application = fixture.ruled()
        for host in ["app.example", "a.wiki.example"] {
            let answer = try await application.send(.get, "/user?x=1", navigation, host: host)
            #expect(answer.status == 302, "\(host): \(answer.text)")
            let target = "https://auth.example/sign-in?return=https%3A//\(host)/user%3Fx%3D1&challenge="
            #expect(answer.headers[.location]?.hasPrefix(target) == true)
            let cookies = answer.headers[values: .setCookie]
            #expect(cookies.count == 1 && cookies[0].hasPrefix("__Host-gatehouse-verifier="))
        }
    }

    @Test func `a host that shares the sign-in host accepts no password`() async throws {
        let fixture = try await RealmsFixture(
            rules: "protect app.example/ { auth form; require any; }",
            server: "sign-in { host auth.example; }"
        )
        let application = fixture.ruled()
        let page = try await application.send(.get, "/sign-in", navigation, host: "app.example")
        #expect(page.headers[.location] == "https://auth.example/sign-in")
        let form = HTTPFields([HTTPField(name: .contentType, value: "application/x-www-form-urlencoded")])
        // The form of an old page leads to the sign-in host.
        let old = try await application.send(.post, "/sign-in", form, host: "app.example")
        #expect(old.status == 303)
        #expect(old.headers[.location] == "https://auth.example/sign-in?notice=expired")
        #expect(old.headers[values: .setCookie].isEmpty)
        #expect(try await application.send(.post, "/session", form, host: "app.example").status == 403)
        #expect(try await application.send(.get, "/sign-in", navigation, host: "auth.example").status == 200)
    }
}

// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import Testing

@testable import HummingbirdRealms

/// The realm API in an application that uses the sign-in middleware.
@Suite struct MiddlewareRealmAPITests {
    private static let token = "7c0f1f1ea8b5d3c5a1e29d6b54d2f0a9"

    @Test func `the middleware serves the realm API to programs with a token`() async throws {
        let fixture = try await RealmsFixture(
            server: "realm-api { client mail { realm people; token \(Self.token); } }"
        )
        let application = try fixture.application()
        let program: HTTPFields = [.authorization: "Bearer \(Self.token)", .contentType: "application/json"]
        let list = try await application.send(.get, "/realms", program)
        #expect(list.status == 200 && list.text.contains(#""name":"people""#))
        let body = #"{"username":"ann","password":"\#(RealmsFixture.password)"}"#
        let accepted = try await application.send(.post, "/realms/people/check", program, body: body)
        #expect(accepted.status == 200 && accepted.text.contains(#""outcome":"accepted""#))
        #expect(accepted.cookie == nil)
        #expect(try await application.send(.post, "/realms/zoo/check", program, body: body).status == 403)
        #expect(try await application.send(.get, "/realms", basic("ann")).status == 401)
    }

    @Test func `without a realm-api block the paths belong to the application`() async throws {
        let fixture = try await RealmsFixture()
        #expect(try await fixture.application().send(.get, "/realms", basic("ann")).status == 404)
    }
}

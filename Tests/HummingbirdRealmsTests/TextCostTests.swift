// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import TestTools
import Testing

/// In the middleware, the cost of a client's text depends only on its length.
///
/// GatehouseTests has `TextCostTests` for the server.
@Suite struct TextCostTests {
    private static let names: [String] = [
        "Accept", "Authorization", "Content-Type", "Cookie", "Last-Event-ID", "Origin", "Sec-Fetch-Mode",
        "Sec-Fetch-Site", "User-Agent", "X-Forwarded-For", "X-Forwarded-Host", "X-Requested-With",
    ]

    @Test(arguments: names)
    func `combining marks in a field cost no more than letters`(name: String) async throws {
        let fixture = try await RealmsFixture(
            rules: "protect /a { require any; }",
            server: "trusted-proxies 192.0.2.1;"
        )
        let application = fixture.ruled()
        let field = try #require(HTTPField.Name(name))
        for (method, path) in [(HTTPRequest.Method.get, "/a"), (.post, "/sign-in"), (.post, "/session")] {
            func cost(of unit: String) async throws -> Double {
                var fields: HTTPFields = [.contentType: "application/json"]
                fields[field] = String(repeating: unit, count: 2000)
                let body = #"{"username":"nobody","password":"x"}"#
                return try await ProcessorTime.measure {
                    _ = try await application.send(method, path, fields, body: body)
                }
            }
            let ratio = try await CostRatio(
                below: 3,
                of: { try await cost(of: "\u{301}\u{323}") },
                to: { try await cost(of: "abcd") }
            )
            #expect(ratio.value < 3, "\(method) \(path): \(ratio)")
        }
    }
}

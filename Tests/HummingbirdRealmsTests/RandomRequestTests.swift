// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SeededRandom
import Testing

@Suite struct RandomRequestTests {
    /// Parts of valid values.
    ///
    /// Random sequences of these parts resemble valid values.
    private static let pieces = [
        "Basic ", "basic", "Bearer ", "YW5uOg==", "YW5u", "=", ",", ";", "__Host-gatehouse=", "__Host-gatehouse", "a=b",
        " ", "\t",
        "/", "%2e", "..", "staff", "?", "#", "%", "\\", "https://localhost", "é", "A",
        String(repeating: "A", count: 43),
    ]

    private static func text(_ random: inout Random) -> String {
        (0..<random.below(8)).map { _ in random.pick(pieces) }.joined()
    }

    @Test func `random cookies, credentials and paths get 400 or 401`() async throws {
        let fixture = try await RealmsFixture(rules: "protect /staff { auth form basic; require any; }")
        let (coded, ruled) = (try fixture.application(), fixture.ruled())
        var random = Random(seed: 20_261_121)
        for _ in 0..<500 {
            var headers = HTTPFields()
            for _ in 0..<random.below(3) { headers.append(HTTPField(name: .cookie, value: Self.text(&random))) }
            for _ in 0..<random.below(3) { headers.append(HTTPField(name: .authorization, value: Self.text(&random))) }
            let (path, target) = (random.pick(["/user", "/staff", "/required"]), "/staff/" + Self.text(&random))
            #expect([400, 401].contains(try await coded.send(.get, path, headers).status), "\(path) \(headers)")
            let status = try await ruled.send(.get, target, headers).status
            #expect([400, 401].contains(status), "\(target) \(headers)")
        }
    }
}

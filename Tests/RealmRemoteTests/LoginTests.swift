// SPDX-License-Identifier: Apache-2.0

import Bytes
import HTTPSTesting
import RealmKit
import RealmTesting
import TLSTesting
import Testing

@testable import RealmRemote

@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct LoginTests {
    /// Answers like a service that knows two users, by Basic credentials.
    @Sendable static func people(_ request: TestService.Received) -> [TestService.Step] {
        let encoded = request.field("Authorization").map { String($0.dropFirst("Basic ".count)) } ?? ""
        let credentials = Base64.padded.decode(encoded).map { String(decoding: $0, as: UTF8.self) }
        switch credentials {
        case "ann:secret": return [json(#"{"user":"ann","groups":["Staff","Users"]}"#)]
        case "ben:lilac": return [json(#"{"user":"ben","groups":["Users"]}"#)]
        case _: return [json(#"{"error":"no"}"#, status: "401 Unauthorized")]
        }
    }

    private static let paths: [String: [String]?] = ["user-path": ["/user"], "groups-path": ["/groups"]]

    @Test func `a right and a wrong password`() async throws {
        try await RemoteSetup.run(respond: Self.people) { setup in
            let realm = try setup.realm(Self.paths)
            let report = try await realm.login("ann", "secret")
            #expect(report.identity?.subject.groups == ["Staff", "Users"])
            #expect(report.identity?.subject.users == ["ann"])
            #expect(try await realm.login("ann", "Secret").failure == .wrongCredentials)
            #expect(try await realm.login("zoe", "secret").failure == .wrongCredentials)
            let count = setup.service.requests.count
            #expect(try await realm.login("ann", "").failure == .wrongCredentials)
            #expect(try await realm.login("an:n", "secret").failure == .unusableCredential)
            #expect(try await realm.login("ann", "sec\u{0}ret").failure == .unusableCredential)
            #expect(setup.service.requests.count == count)
            #expect(setup.service.connections == 1)
            #expect(setup.log.all == [])
        }
    }

    @Test func `the module passes the conformance tests`() async throws {
        try await RemoteSetup.run(respond: Self.people) { setup in
            let conformance = LoginModuleConformance(
                try setup.realm(Self.paths).module(),
                accepts: [.init("ann", password: "secret"), .init("ben", password: "lilac")],
                refuses: [
                    .init("ann", password: "Secret"), .init("ann", password: ""), .init("Ann", password: "secret"),
                    .init("zoe", password: "secret"), .init("a:n", password: "secret"),
                ],
                timeLimit: .seconds(60)
            )
            #expect(await conformance.violations() == [])
        }
    }

    @Test func `the realm passes the conformance tests`() async throws {
        try await RemoteSetup.run(respond: Self.people) { setup in
            let conformance = RealmConformance(
                RemoteRealm.self,
                properties: try setup.properties(Self.paths),
                unknownUsers: ["zoe"],
                spellings: [["ann", "Ann"]]
            )
            #expect(await conformance.violations() == [])
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTeam
import RealmTesting
import Testing

struct TeamRealmTests {
    @Test func `the realm and its module pass the conformance tests`() async {
        let violations = await RealmKind.team.violations(
            properties: ["members": ["ann", "zed"], "passphrase": ["open sesame"], "group": ["Crew"]],
            members: ["ann": ["Crew"], "zed": ["Crew"]],
            unknownUsers: ["bob", "Ann"],
            accepts: [.init("ann", password: "open sesame"), .init("zed", password: "open sesame")],
            refuses: [
                .init("ann", password: "open sesami"), .init("ann", password: ""), .init("ann"),
                .init("bob", password: "open sesame"),
            ]
        )
        #expect(violations == [])
    }

    @Test func `the realm refuses hostile names and passwords, and reveals no secret`() async {
        var conformance = RealmBackEndConformance(
            users: [
                .init("ann", password: "open sesame", groups: ["Crew"]),
                .init("zed", password: "open sesame", groups: ["Crew"]),
            ],
            unknownUsers: ["bob"],
            deadline: .seconds(10)
        ) { services in
            try .forConformance(
                .team,
                properties: ["members": ["ann", "zed"], "passphrase": ["open sesame"], "group": ["Crew"]],
                services: services
            )
        }
        conformance.skip(.outages, .deadline, .cancellation, .release, reason: "the team has no back end")
        let report = await conformance.check()
        #expect(report.violations == [])
    }

    @Test func `an empty passphrase is rejected`() {
        #expect(throws: BadRealm("is empty", setting: "passphrase")) {
            try Team.make(passphrase: "")
        }
    }

    @Test(arguments: ["", " ann", "ann\u{7}"])
    func `an invalid member name is rejected`(name: String) throws {
        let error = try #require(throws: BadRealm.self) { try Team.make(members: ["ann", name]) }
        #expect(error.setting == "members")
    }

    @Test func `the group has a default`() async throws {
        let realm = try Team.make(group: nil).realm
        #expect(try await realm.groupNames(of: Username("ann")) == ["Team"])
    }
}

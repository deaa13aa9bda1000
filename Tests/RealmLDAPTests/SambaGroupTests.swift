// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import Testing

@testable import RealmLDAP

@Suite(.enabled(if: SambaServer.unavailable == nil, "\(SambaServer.unavailable ?? "")"))
struct SambaGroupTests {
    private func groups(
        _ changes: [String: [String]?],
        of person: Person = SambaServer.alice,
        on other: SambaServer? = nil,
        log: LogEntries = LogEntries()
    ) async throws -> [String]? {
        let shared = try await SambaServer.shared()
        let report = try await SambaSetup.realm(other ?? shared, changes, log: log).login(person)
        return report.identity?.subject.groups.sorted()
    }

    @Test(arguments: ["member-of", "search"])
    func `direct groups, nested groups by the rule of the server, and the primary group`(source: String) async throws {
        let source: [String: [String]?] = ["group-source": [source]]
        #expect(try await groups(source) == ["Domain Users", "Team"])
        let nested = source.merging(["nested-groups": ["true"]]) { $1 }
        #expect(try await groups(nested) == ["Company", "Department", "Domain Users", "Team", "Users"])
        #expect(try await groups(source, of: SambaServer.bob) == ["Domain Users"])
        #expect(try await groups(nested, of: SambaServer.bob) == ["Domain Users", "Users"])
    }

    @Test(arguments: ["member-of", "search"])
    func `a primary group that an administrator has chosen`(source: String) async throws {
        let source: [String: [String]?] = ["group-source": [source]]
        #expect(try await groups(source, of: SambaServer.paul) == ["Accountants", "Domain Users"])
        let without = source.merging(["primary-group": ["false"]]) { $1 }
        #expect(try await groups(without, of: SambaServer.paul) == ["Domain Users"])
    }

    @Test func `the groups that contain the primary group count, also beside computed groups`() async throws {
        let server = try await SambaServer()
        try await server.add(
            ldif: Entry(
                SambaServer.group("Finance"),
                [
                    ("objectClass", "group"), ("sAMAccountName", "Finance"),
                    ("member", SambaServer.group("Accountants")),
                ]
            ).ldif
        )
        let nested: [String: [String]?] = ["nested-groups": ["true"]]
        #expect(
            try await groups(nested, of: SambaServer.paul, on: server) == [
                "Accountants", "Domain Users", "Finance", "Users",
            ]
        )
        let dynamic: [String: [String]?] = [
            "nested-groups": ["true"], "dynamic-group-search-filter": ["(sAMAccountName=%s)"],
            "dynamic-group-target": ["memberOf"],
        ]
        #expect(
            try await groups(dynamic, of: SambaServer.paul, on: server) == [
                "Accountants", "Domain Users", "Finance", "Users",
            ]
        )
    }

    @Test func `groups outside the base for groups do not count, except the primary group`() async throws {
        let below: [String: [String]?] = ["group-base-dn": [SambaServer.groups]]
        #expect(try await groups(below) == ["Domain Users", "Team"])
        let elsewhere: [String: [String]?] = ["group-base-dn": [SambaServer.people], "primary-group": ["false"]]
        #expect(try await groups(elsewhere) == [])
    }

    @Test func `distinguished names as groups, and no groups`() async throws {
        let names = try await groups(["group-names": ["dn"], "nested-groups": ["true"]])
        let company = try #require(DistinguishedName(SambaServer.group("Company"))).key
        #expect(names?.contains(company) == true, "\(names ?? [])")
        #expect(try await groups(["group-source": ["none"]]) == [])
    }

    @Test func `more groups than one answer has are read in parts`() async throws {
        let server = try await SambaServer()
        var ldif = ""
        let all = (0..<1600).map { "Many\($0)" }
        for name in all {
            let attributes = [("objectClass", "group"), ("sAMAccountName", name), ("member", SambaServer.bob.name)]
            ldif += Entry(SambaServer.group(name), attributes).ldif
        }
        try await server.add(ldif: ldif)
        let expected = (all + ["Domain Users"]).sorted()
        #expect(try await groups(["group-source": ["member-of"]], of: SambaServer.bob, on: server) == expected)
        #expect(try await groups(["group-source": ["search"]], of: SambaServer.bob, on: server) == expected)
    }
}
#endif

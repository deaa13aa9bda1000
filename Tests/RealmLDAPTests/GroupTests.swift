// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
import DirectoryTesting
import RealmKit
import Testing

@testable import RealmLDAP

@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct GroupTests {
    private let server: SlapdServer

    init() async throws { server = try await SlapdServer() }

    /// Returns the sorted groups of a login.
    private func groups(
        of person: Person = SlapdServer.ann,
        _ changes: [String: [String]?],
        log: LogEntries = LogEntries()
    ) async throws -> [String]? {
        let realm = try LDAPSetup.realm(server, changes, log: log)
        return try await realm.login(person).identity?.subject.groups.sorted()
    }

    @Test func `groups that name their members, by every kind of filter`() async throws {
        #expect(try await groups(["group-search-filter": nil]) == ["unique"])
        #expect(try await groups(["group-search-filter": ["memberUid=%s"]]) == ["printers"])
        let mixed = "(|(member=%d)(uniqueMember=%d)(memberUid=%s))"
        #expect(
            try await groups(["group-search-filter": [mixed]]) == [
                "comma, group", "level1", "printers", "staff", "unique",
            ]
        )
        for person in SlapdServer.peopleWithSpecialNames {
            #expect(try await groups(of: person, [:]) == ["staff"], "\(person.uid)")
        }
        let special = SlapdServer.peopleWithSpecialNames.first { $0.uid == "a*b" }
        #expect(try await groups(of: #require(special), ["group-search-filter": ["memberUid=%s"]]) == ["printers"])
    }

    @Test func `the spelling of the typed name makes no difference to the groups`() async throws {
        // The server compares memberUid with regard to case.
        for filter in ["(memberUid=%s)", "(memberUid=%n)"] {
            let search = filter.replacing("memberUid", with: "uid")
            for name in ["ann", "ANN", "aNn"] {
                let realm = try LDAPSetup.realm(
                    server,
                    ["search-filter": [search], "group-search-filter": [filter], "domains": ["EXAMPLE"]]
                )
                let report = try await realm.login(name, SlapdServer.ann.password)
                #expect(report.identity?.subject.groups == ["printers"], "\(name) \(filter)")
            }
        }
        let realm = try LDAPSetup.realm(
            server,
            ["search-filter": ["(mail=%s@example.org)"], "group-search-filter": ["memberUid=%s"]]
        )
        #expect(try await realm.login("ANN", SlapdServer.ann.password).identity?.subject.groups == ["printers"])
    }

    @Test func `the spelling of the last attribute that has the name is that of the groups`() throws {
        let settings = try LDAPSetup.realm(server, ["search-filter": ["(|(cn=%s)(uid=%s))"]]).directory.settings
        let attributes = [("cn", [Array("Ann".utf8)]), ("uid", [Array("ann".utf8)])]
        for typed in ["ann", "Ann", "ANN"] {
            let entry = LDAPEntry(name: "cn=Ann,\(SlapdServer.people)", attributes: attributes)
            let user = try UserEntry(entry, typed: TypedName(user: typed, full: typed), settings: settings)
            #expect(user.spelling?.user == "ann", "\(typed)")
        }
    }

    @Test func `groups that the entry of the user names, below the base for groups`() async throws {
        let source: [String: [String]?] = ["group-source": ["member-of"]]
        #expect(try await groups(source) == ["comma, group", "level1", "staff", "unique"])
        let elsewhere = source.merging(["group-base-dn": [SlapdServer.people]]) { $1 }
        #expect(try await groups(elsewhere) == [])
        // Another attribute than that of the distinguished name is read from the entries of the groups.
        let other = source.merging(["group-target": ["objectClass"]]) { $1 }
        #expect(try await groups(other) == ["groupOfNames", "groupOfUniqueNames"])
    }

    @Test func `no groups, and distinguished names as groups`() async throws {
        #expect(try await groups(["group-source": ["none"]]) == [])
        for source in ["search", "member-of"] {
            let found = try await groups(["group-source": [source], "group-names": ["dn"]])
            #expect(found?.contains(SlapdServer.group("level1")) == true, "\(found ?? [])")
        }
    }

    @Test(arguments: ["search", "member-of"])
    func `groups in groups count if so configured, and a ring of groups ends`(source: String) async throws {
        let nested: [String: [String]?] = ["group-source": [source], "nested-groups": ["true"]]
        let ann = try await groups(nested)
        #expect(ann?.filter { $0.hasPrefix("level") } == ["level1", "level2", "level3"])
        #expect(try await groups(of: SlapdServer.ben, nested)?.filter { $0.hasPrefix("ring") } == ["ring-a", "ring-b"])
        #expect(try await groups(of: SlapdServer.ben, ["group-source": [source]])?.contains("ring-b") == false)
    }

    @Test func `more groups or more levels than allowed refuse the login and are named`() async throws {
        let log = LogEntries()
        #expect(try await groups(["maximum-groups": ["2"]], log: log) == nil)
        #expect(log.contains("the user has more than 2 groups (maximum-groups)"), "\(log.all)")
        let deep: [String: [String]?] = ["nested-groups": ["true"], "maximum-group-depth": ["2"]]
        #expect(try await groups(deep, log: log) == nil)
        #expect(log.contains("groups are nested deeper than 2 levels (maximum-group-depth)"), "\(log.all)")
    }

    @Test func `groups of groups are kept for a while, and those of users are not`() async throws {
        let realm = try LDAPSetup.realm(server, ["nested-groups": ["true"]])
        let first = try await realm.login(SlapdServer.ann).identity?.subject.groups.sorted()
        let searches = server.searches.count
        #expect(try await realm.login(SlapdServer.ann).identity?.subject.groups.sorted() == first)
        #expect(server.searches.count == searches + 2)
        try await server.modify(
            ldif: """
                dn: \(SlapdServer.group("level1"))
                changetype: modify
                add: member
                member: \(SlapdServer.ben.name)
                -
                delete: member
                member: \(SlapdServer.ann.name)

                """
        )
        #expect(try await realm.login(SlapdServer.ann).identity?.subject.groups.contains("level1") == false)
        #expect(try await realm.login(SlapdServer.ben).identity?.subject.groups.contains("level3") == true)
    }

    @Test func `groups and attributes are found without a login`() async throws {
        let realm = try LDAPSetup.realm(server)
        let ann = try Username("ann")
        #expect(try await realm.groupNames(of: ann).sorted() == ["comma, group", "level1", "staff"])
        #expect(try await realm.attributes(of: ann).values(of: "mail") == ["ann@example.org"])
        await #expect(throws: RealmError(.noSuchUser, "")) { try await realm.groupNames(of: Username("zoe")) }
        let direct = try LDAPSetup.realm(
            server,
            [
                "search-bind-dn": nil, "search-bind-password": nil,
                "user-dn-pattern": ["uid=%s,\(SlapdServer.people)"],
            ]
        )
        await #expect(throws: RealmError(.invalidOperation, "")) { try await direct.groupNames(of: ann) }
        #expect(try await realm.directory.users().count == SlapdServer.allPeople.count)
    }
}
#endif

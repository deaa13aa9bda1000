// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import ServerConnections
import Synchronization
import TestTools
import Testing
import Workers

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

    @Test func `the spelling of the accepted name is that of the groups`() throws {
        let attributes = [("cn", [Array("Ann".utf8)]), ("uid", [Array("ann".utf8)])]
        for (attribute, expected) in [("cn", "Ann"), ("uid", "ann")] {
            let filters: [String: [String]?] = [
                "search-filter": ["(|(cn=%s)(uid=%s))"], "user-name-attribute": [attribute],
            ]
            let settings = try LDAPSetup.realm(server, filters).directory.settings
            for typed in ["ann", "Ann", "ANN"] {
                let entry = LDAPEntry(name: "cn=Ann,\(SlapdServer.people)", attributes: attributes)
                let user = try UserEntry(entry, typed: TypedName(user: typed, full: typed), settings: settings)
                #expect(user.account == expected && user.username.text == expected, "\(typed)")
            }
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
            #expect(found?.contains("cn=comma\\, group,\(SlapdServer.groups)") == true, "\(found ?? [])")
        }
    }

    @Test func `groups are looked up by their names, and found in the spelling of the directory`() async throws {
        let realm = try LDAPSetup.realm(server, ["group-source": ["member-of"]])
        #expect(
            try await realm.existingGroups(["staff", "Level1", "comma, group", "stafff", "*"]) == [
                "staff", "level1", "comma, group",
            ]
        )
        let named = try LDAPSetup.realm(server, ["group-names": ["dn"]])
        let staff = SlapdServer.group("staff")
        let names = [
            staff, "cn=stafff,\(SlapdServer.groups)", "nosuchattribute=a,\(SlapdServer.groups)", SlapdServer.ann.name,
        ]
        #expect(try await named.existingGroups(names) == [staff])
        #expect(try await LDAPSetup.realm(server, ["group-source": ["none"]]).existingGroups(["staff"]) == [])
        let direct: [String: [String]?] = [
            "search-bind-dn": nil, "search-bind-password": nil, "user-dn-pattern": ["uid=%s,\(SlapdServer.people)"],
        ]
        await #expect(throws: RealmError(.invalidOperation, "")) {
            try await LDAPSetup.realm(server, direct).existingGroups(["staff"])
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

    @Test(arguments: ["search", "member-of"])
    func `groups of groups are read again ahead of need, and not by a login`(source: String) async throws {
        let realm = try LDAPSetup.realm(server, ["nested-groups": ["true"], "group-source": [source]])
        let time = Atomic(MonotonicTime.now)
        let cache = GroupCache(.seconds(60)) { time.load(ordering: .relaxed) }
        let renewed = Mutex<[[DirectoryGroup]]>([])
        let settings = realm.directory.settings
        /// Makes a search for the groups of a user, and returns the number of requests for it.
        func requests(_ body: @escaping @Sendable (DirectoryLogin) throws(ServerFault) -> Void) async throws -> Int {
            let before = server.searches.count
            try await realm.directory.run(for: nil, source: "test") { login throws(ServerFault) in
                try body(
                    DirectoryLogin(
                        directory: login.directory,
                        connection: login.connection,
                        steps: login.steps,
                        cache: cache,
                        renew: { groups in renewed.withLock { $0.append(groups) } }
                    )
                )
            }
            return server.searches.count - before
        }
        let ann = SlapdServer.ann
        let names = ["staff", "level1"].map { Array(SlapdServer.group($0).utf8) }
        let attributes = [("uid", [Array(ann.uid.utf8)]), ("memberof", names)]
        let user = try UserEntry(LDAPEntry(name: ann.name, attributes: attributes), typed: nil, settings: settings)
        let login: @Sendable (DirectoryLogin) throws(ServerFault) -> Void = { search throws(ServerFault) in
            let found = try search.groups(of: user)
            guard found.contains("level3") else { throw ServerFault(.failed, "\(found)") }
        }
        func pass(_ seconds: UInt64) { time.add(seconds * 1_000_000_000, ordering: .relaxed) }
        // The first connection reads the root entry, too.
        _ = try await requests { _ in }
        let first = try await requests(login)
        let later = try await requests(login)
        #expect(later == (source == "search" ? 1 : 0) && first > later + 2)
        #expect(renewed.withLock { $0.isEmpty })
        pass(31)
        #expect(try await requests(login) == later)
        let groups = try #require(renewed.withLock { $0.first })
        #expect(try await requests { search throws(ServerFault) in try search.readAgain(groups) } > 2)
        #expect(try await requests { search throws(ServerFault) in try search.readAgain(groups) } == 0)
        pass(31)
        #expect(try await requests(login) == later)
        #expect(renewed.withLock { $0.count } == 2)
        // Without a renewal they are read at the login.
        pass(30)
        #expect(try await requests(login) > later)
    }

    @Test func `logins begin a renewal, which ends by itself`() async throws {
        let realm = try LDAPSetup.realm(server, ["nested-groups": ["true"], "group-cache-time": ["2s"]])
        #expect(try await realm.login(SlapdServer.ann).failure == nil)
        try await Task.sleep(for: .milliseconds(1100))
        let before = server.searches.count
        #expect(try await realm.login(SlapdServer.ann).failure == nil)
        // Those of the login are two.
        try await Waiting.until { server.searches.count > before + 2 }
        try await Waiting.until {
            guard realm.directory.cache.beginRenewal() else { return false }
            realm.directory.cache.endRenewal(hasFailed: false)
            return true
        }
    }

    @Test func `of several names of a group, the one of the distinguished name counts`() async throws {
        var settings = SlapdServer.Settings()
        settings.entries =
            Entry(
                SlapdServer.group("denied"),
                [
                    ("objectClass", "groupOfNames"), ("cn", "alias"), ("cn", "denied"),
                    ("member", SlapdServer.ann.name),
                ]
            ).ldif
        let server = try await SlapdServer(settings)
        let groups = try await LDAPSetup.realm(server).login(SlapdServer.ann).identity?.subject.groups
        #expect(groups?.contains("denied") == true && groups?.contains("alias") == false, "\(groups ?? [])")
    }

    @Test func `what one user can read after a direct bind is not kept for another one`() async throws {
        var settings = SlapdServer.Settings()
        let blocked = SlapdServer.group("blocked")
        settings.accessLines = [
            "access to dn.exact=\"\(blocked)\" by dn.exact=\"\(SlapdServer.ann.name)\" none by users read",
            "access to dn.subtree=\"\(SlapdServer.groups)\" by users read",
        ]
        settings.entries =
            Entry(
                blocked,
                [("objectClass", "groupOfNames"), ("cn", "blocked"), ("member", SlapdServer.group("staff"))]
            ).ldif
        let server = try await SlapdServer(settings)
        let realm = try LDAPSetup.realm(
            server,
            [
                "search-bind-dn": nil, "search-bind-password": nil, "nested-groups": ["true"],
                "user-dn-pattern": ["uid=%s,\(SlapdServer.people)"],
            ]
        )
        for _ in 0..<2 {
            let ann = try await realm.login(SlapdServer.ann).identity?.subject.groups
            #expect(ann?.contains("staff") == true && ann?.contains("blocked") == false, "\(ann ?? [])")
            let ben = try await realm.login(SlapdServer.ben).identity?.subject.groups
            #expect(ben?.contains("staff") == true && ben?.contains("blocked") == true, "\(ben ?? [])")
        }
    }

    @Test func `groups without a name in the target are left out, as the trace says`()
        async throws
    {
        let realm = try LDAPSetup.realm(server, ["group-target": ["description"]])
        let report = try await realm.login(SlapdServer.ann)
        #expect(report.identity?.subject.groups == [])
        let note = "groups that are left out, because they have no usable name in description (group-target): "
        #expect(report.noteTexts.contains { $0.contains(note) && $0.contains(", such as cn=") }, "\(report.noteTexts)")
    }

    @Test func `a name of a group that cannot be read refuses the login`() async throws {
        let log = LogEntries()
        // The names of these groups are no distinguished names.
        let plain: [String: [String]?] = [
            "dynamic-group-search-filter": ["(uid=%s)"], "dynamic-group-target": ["cn"],
            "group-base-dn": [SlapdServer.base],
        ]
        #expect(try await groups(plain, log: log) == nil)
        #expect(log.contains("is a group, and no distinguished name"), "\(log.all)")
        let primary: [String: [String]?] = ["primary-group": ["true"]]
        #expect(try await groups(primary, log: log) == nil)
        let cause = "\(SlapdServer.ann.name): the entry has no primaryGroupID and objectSid that this program may read"
        #expect(log.contains(cause), "\(log.all)")
    }

    @Test func `the trace has one note for each level of groups`() async throws {
        for (source, request) in [
            ("search", "search below \(SlapdServer.groups) for (member="), ("member-of", "entry cn="),
        ] {
            let realm = try LDAPSetup.realm(server, ["group-source": [source], "nested-groups": ["true"]])
            let notes = try await realm.login(SlapdServer.ann).noteTexts.filter { $0.contains(request) }
            // After the groups of the user, those of level1, level2 and level3.
            let levels = notes.suffix(3)
            #expect(levels.count == 3 && notes.count <= 4, "\(notes)")
            #expect(levels.first?.contains(" more of this kind: 1 group, ") == true, "\(notes)")
            #expect(levels.last?.contains("level3") == true, "\(notes)")
            #expect(levels.last?.contains(": 0 groups, ") == true, "\(notes)")
        }
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

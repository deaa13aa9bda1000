// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import Testing

@testable import RealmLDAP

/// The identity and the groups are those of the entry, whatever was typed and whatever users have written elsewhere.
@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct IdentityTests {
    /// The filters of a directory whose users sign in by user name or mail address.
    private static let byMail: [String: [String]?] = [
        "search-filter": ["(|(uid=%s)(mail=%s))"], "group-search-filter": ["memberUid=%s"],
    ]

    private let server: SlapdServer

    init() async throws {
        var settings = SlapdServer.Settings()
        settings.entries =
            Entry(
                SlapdServer.group("ghosts"),
                [("objectClass", "posixGroup"), ("cn", "ghosts"), ("gidNumber", "1"), ("memberUid", "ghost")]
            ).ldif
        server = try await SlapdServer(settings)
    }

    /// Adds a value to an entry, as a user may be able to do with the own one.
    private func add(_ value: String, to attribute: String, of person: Person) async throws {
        try await server.modify(
            ldif: "dn: \(person.name)\nchangetype: modify\nadd: \(attribute)\n\(attribute): \(value)\n\n"
        )
    }

    @Test(arguments: ["(memberUid=%s)", "(memberUid=%n)"])
    func `a user who signs in by mail address has the name and the groups of the entry`(filter: String) async throws {
        let settings: [[String: [String]?]] = [
            [:], ["user-name-attribute": ["uid"]],
            ["search-filter": ["(mail=%s)"], "user-name-attribute": ["uid"]],
            ["search-filter": ["(|(mail=%n)(uid=%n))"], "user-name-attribute": ["uid"], "domains": ["EXAMPLE"]],
        ]
        for setting in settings {
            let changes = Self.byMail.merging(["group-search-filter": [filter]]) { $1 }.merging(setting) { $1 }
            let realm = try LDAPSetup.realm(server, changes)
            for name in ["ann@example.org", "ANN@Example.org"] {
                let report = try await realm.login(name, SlapdServer.ann.password)
                #expect(report.identity?.username.text == "ann", "\(setting) \(report.noteTexts)")
                #expect(report.identity?.groups == ["printers"], "\(setting) \(report.noteTexts)")
            }
        }
    }

    @Test(
        arguments: [
            [:], ["group-search-filter": ["memberUid=%n"]],
            [
                "group-source": ["none"], "dynamic-group-search-filter": ["memberUid=%s"],
                "dynamic-group-target": ["cn"],
            ],
        ] as [[String: [String]]]
    )
    func `a name that a user has written into the own mail gives no groups`(changes: [String: [String]]) async throws {
        try await add("ghost", to: "mail", of: SlapdServer.ann)
        var properties = Self.byMail.merging(changes) { $1 }
        if changes["group-source"] != nil { properties["group-search-filter"] = .some(nil) }
        let log = LogEntries()
        let realm = try LDAPSetup.realm(server, properties, log: log)
        let report = try await realm.login("ghost", SlapdServer.ann.password)
        if changes["group-source"] == nil {
            #expect(report.identity?.username.text == "ann" && report.identity?.groups == ["printers"])
        } else {
            // The names of these groups are no distinguished names; the search is for ann.
            #expect(report.failure == .unavailable && log.contains("printers is a group"), "\(log.all)")
        }
        #expect(!server.received.contains("memberUid=ghost"))
    }

    @Test(arguments: ["mail", "uid"])
    func `a user whose name others have written into their entries signs in, and they do not`(
        attribute: String
    ) async throws {
        for person in [SlapdServer.ann, SlapdServer.carl, SlapdServer.grace] {
            try await add("ben", to: attribute, of: person)
        }
        let realm = try LDAPSetup.realm(server, Self.byMail)
        let report = try await realm.login(SlapdServer.ben)
        #expect(report.identity?.username.text == "ben" && report.identity?.groups == ["wheel"], "\(report.noteTexts)")
        #expect(try await realm.login("ben", SlapdServer.ann.password).failure == .wrongCredentials)
        #expect(try await realm.groupNames(of: Username("ben")) == ["wheel"])
        // Nor can another program be told another user.
        #expect(try await realm.user(Username("BEN"))?.name.text == "ben")
        #expect(try await realm.login(SlapdServer.ann).identity?.groups == ["printers"])
    }

    @Test func `two users with one mail address are refused by it, which is no outage`() async throws {
        try await add("ann@example.org", to: "mail", of: SlapdServer.ben)
        let log = LogEntries()
        let realm = try LDAPSetup.realm(server, Self.byMail, log: log)
        for person in [SlapdServer.ann, SlapdServer.ben] {
            #expect(try await realm.login("ann@example.org", person.password).failure == .unknownUser)
            #expect(try await realm.login(person).failure == nil)
        }
        #expect(log.contains("several entries match (|(uid=ann@example.org)(mail=ann@example.org))"), "\(log.all)")
    }

    @Test func `of several values of the name, that of the distinguished name is the name`() async throws {
        try await add("ghost", to: "uid", of: SlapdServer.ann)
        let realm = try LDAPSetup.realm(server, Self.byMail)
        for name in ["ann", "ghost", "GHOST", "ann@example.org"] {
            let report = try await realm.login(name, SlapdServer.ann.password)
            #expect(report.identity?.username.text == "ann" && report.identity?.groups == ["printers"], "\(name)")
        }
        #expect(try await realm.users().map(\.name.text).contains("ann"))
    }

    @Test func `failed logins by another name of a user count for the user`() async throws {
        let realm = try LDAPSetup.realm(server, Self.byMail)
        let (name, mail) = (try Username("ann"), try Username("ANN@example.org"))
        #expect(realm.accountKey(of: mail) == "ann@example.org")
        #expect(try await realm.login(mail.text, "wrong").failure == .wrongCredentials)
        #expect(realm.accountKey(of: mail) == realm.accountKey(of: name))
        // The name is that of a user now.
        try await add("ben", to: "mail", of: SlapdServer.carl)
        _ = try await realm.login(SlapdServer.ben)
        #expect(realm.accountKey(of: try Username("ben")) == "ben")
    }

    @Test func `names that differ in their domains count for their own users`() async throws {
        try await add("kim@a.test", to: "mail", of: SlapdServer.ann)
        try await add("kim@b.test", to: "mail", of: SlapdServer.ben)
        let names = try ["kim@a.test", "KIM@B.test"].map { text in try Username(text) }
        for (attribute, keys) in [("uid", ["ann", "ben"]), ("mail", ["kim@a.test", "kim@b.test"])] {
            let changes: [String: [String]?] = [
                "search-filter": ["(mail=%n)"], "user-name-attribute": [attribute], "domains": ["a.test", "b.test"],
            ]
            let realm = try LDAPSetup.realm(server, changes)
            for (name, person) in zip(names, [SlapdServer.ann, SlapdServer.ben]) {
                #expect(try await realm.login(name.text, person.password).failure == nil)
            }
            #expect(names.map { realm.accountKey(of: $0) } == keys)
        }
    }
}
#endif

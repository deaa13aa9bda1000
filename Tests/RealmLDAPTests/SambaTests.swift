// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import Testing

@testable import RealmLDAP

@Suite(.enabled(if: SambaServer.unavailable == nil, "\(SambaServer.unavailable ?? "")"))
struct SambaTests {
    @Test func `a right and a wrong password, and an unknown user, in Active Directory`() async throws {
        let log = LogEntries()
        let realm = try SambaSetup.realm(try await SambaServer.shared(), log: log)
        let report = try await realm.login(SambaServer.alice)
        #expect(report.identity?.subject.users == ["alice"], "\(report.noteTexts)")
        #expect(report.identity?.subject.groups.sorted() == ["Domain Users", "Team"])
        #expect(report.identity?.subject.attributes.values(of: "mail") == ["alice@example.org"])
        #expect(report.identity?.subject.attributes.values(of: "displayName") == ["Alice Example"])
        let wrong = try await realm.login("alice", "wrong")
        #expect(wrong.failure == .wrongCredentials)
        #expect(wrong.noteTexts.contains { $0.contains("data 52e") }, "\(wrong.noteTexts)")
        #expect(try await realm.login("zoe", "wrong").failure == .unknownUser)
        #expect(try await realm.login("alice*", SambaServer.alice.password).failure == .unknownUser)
        // The base is the root of the domain, where the server returns references to its other parts.
        #expect(log.all == [])
    }

    @Test func `all spellings of a name are one account with one user name`() async throws {
        let realm = try SambaSetup.realm(try await SambaServer.shared())
        let spellings = [
            "alice", "ALICE", "alice@example.org", "Alice@EXAMPLE.ORG", "alice@example", "EXAMPLE\\alice",
            "example\\Alice", "example.org\\alice",
        ]
        for spelling in spellings {
            let report = try await realm.login(spelling, SambaServer.alice.password)
            #expect(report.identity?.subject.users == ["alice"], "\(spelling): \(report.noteTexts)")
            #expect(realm.accountKey(of: try Username(spelling)) == "alice", "\(spelling)")
            #expect(try await realm.login(spelling, "wrong").failure == .wrongCredentials, "\(spelling)")
        }
    }

    @Test func `a name of a foreign domain is refused without a request to the server`() async throws {
        let server = try await SambaServer.shared()
        let realm = try SambaSetup.realm(server)
        for name in ["OTHER\\alice", "\\alice", "EXAMPLE\\", "EXAMPLE2\\alice", "OTHER\\EXAMPLE\\alice"] {
            let report = try await realm.login(name, SambaServer.alice.password)
            #expect(report.failure == .unknownUser, "\(name)")
            #expect(report.noteTexts.allSatisfy { !$0.contains("ldaps:") }, "\(name): \(report.noteTexts)")
        }
        // A mail address of another domain may be the name of a user, so it is searched for.
        for name in ["alice@other.org", "@example.org", "alice@example.org@example.org"] {
            #expect(try await realm.login(name, SambaServer.alice.password).failure == .unknownUser, "\(name)")
        }
    }

    @Test func `without domains a user signs in by the account name and by the principal name`() async throws {
        let realm = try SambaSetup.realm(try await SambaServer.shared(), ["domains": nil])
        for name in ["alice", "alice@example.org"] {
            #expect(try await realm.login(name, SambaServer.alice.password).identity?.subject.users == ["alice"])
        }
        #expect(try await realm.login("EXAMPLE\\alice", SambaServer.alice.password).failure == .unknownUser)
    }

    @Test func `users with special characters in their names sign in, and only as themselves`() async throws {
        let realm = try SambaSetup.realm(try await SambaServer.shared())
        for person in SambaServer.peopleWithSpecialNames {
            let report = try await realm.login(person)
            #expect(report.identity?.subject.users == [person.uid], "\(person.uid): \(report.noteTexts)")
            #expect(report.identity?.subject.groups.sorted() == ["Domain Users", "Team"], "\(person.uid)")
            #expect(try await realm.login(person.uid, "wrong").failure == .wrongCredentials, "\(person.uid)")
        }
    }

    @Test func `the states of accounts are told apart, only for those who know the password`() async throws {
        let realm = try SambaSetup.realm(try await SambaServer.shared(), ["change-expired-password": ["false"]])
        let table: [(Person, LoginFailure, String)] = [
            (SambaServer.dave, .disabled, "an administrator has disabled the account (data 533)"),
            (SambaServer.erin, .accountExpired, "the account has expired (data 701)"),
            (SambaServer.mona, .credentialExpired, "the password must be changed (data 773)"),
            (SambaServer.peggy, .credentialExpired, "the password has expired (data 532)"),
            (SambaServer.lara, .locked, "the directory has locked the account (data 775)"),
            (SambaServer.nora, .permissionDenied, "the user must not sign in at this time (data 530)"),
            (SambaServer.walt, .permissionDenied, "the user must not sign in from here (data 531)"),
        ]
        for (person, failure, text) in table {
            let report = try await realm.login(person)
            #expect(report.failure == failure, "\(person.uid): \(report.noteTexts)")
            #expect(report.noteTexts.contains { $0.contains(text) }, "\(person.uid): \(report.noteTexts)")
            guard failure != .locked else { continue }
            #expect(try await realm.login(person.uid, "wrong").failure == .wrongCredentials, "\(person.uid)")
        }
    }

    @Test func `users of Active Directory bind directly with their principal names`() async throws {
        let realm = try SambaSetup.realm(
            try await SambaServer.shared(),
            ["search-bind-dn": nil, "search-bind-password": nil, "user-dn-pattern": ["%s@example.org"]]
        )
        for name in ["alice", "EXAMPLE\\alice", "alice@example.org"] {
            let report = try await realm.login(name, SambaServer.alice.password)
            #expect(report.identity?.subject.users == ["alice"], "\(name): \(report.noteTexts)")
            #expect(report.identity?.subject.groups.sorted() == ["Domain Users", "Team"], "\(name)")
        }
        #expect(try await realm.login("alice", "wrong").failure == .wrongCredentials)
        #expect(try await realm.login("zoe", "wrong").failure == .wrongCredentials)
        #expect(try await realm.login("dave", SambaServer.dave.password).failure == .disabled)
        #expect(try await realm.login("alice@other.org", SambaServer.alice.password).failure == .unknownUser)
    }

    @Test func `a direct bind is no login as the user whose account name it contains`() async throws {
        let server = try await SambaServer()
        let mallory = Person(
            uid: "mallory",
            name: "CN=Mallory,\(SambaServer.people)",
            password: "Pass-word for mallory"
        )
        // The principal names of a domain may have another suffix than its name, and need not be the account names.
        try await SambaSetup.add(mallory, to: server, [("userPrincipalName", "bob@mail.example.org")])
        let realm = try SambaSetup.realm(
            server,
            [
                "search-bind-dn": nil, "search-bind-password": nil, "user-dn-pattern": ["%s@mail.example.org"],
                "domains": nil,
            ]
        )
        let report = try await realm.login("bob", mallory.password)
        #expect(report.identity == nil, "\(report.identity?.subject.users ?? []) \(report.noteTexts)")
        #expect(report.failure == .wrongCredentials)
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import RealmTesting
import Testing

@testable import RealmLDAP

@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct LoginTests {
    private let server: SlapdServer

    init() async throws { server = try await SlapdServer() }

    @Test func `a right and a wrong password`() async throws {
        let log = LogEntries()
        let realm = try LDAPSetup.realm(server, log: log)
        let report = try await realm.login(SlapdServer.ann)
        #expect(report.identity?.subject.users == ["ann"], "\(report.noteTexts)")
        #expect(report.identity?.subject.groups.sorted() == ["comma, group", "level1", "staff"])
        #expect(report.identity?.subject.attributes.values(of: "mail") == ["ann@example.org"])
        #expect(report.identity?.subject.attributes.values(of: "displayName") == ["Ann Example"])
        #expect(try await realm.login("ann", "Password of ann").failure == .wrongCredentials)
        #expect(try await realm.login("zoe", "secret").failure == .unknownUser)
        #expect(log.all == [])
    }

    @Test func `while an account is locked, nothing follows the bind, and no password is changed`() async throws {
        for (direct, person) in [
            (false, SlapdServer.ann), (true, SlapdServer.ann), (false, SlapdServer.dora), (true, SlapdServer.dora),
        ] {
            var properties: [String: [String]?] = ["maximum-groups": ["1"]]
            if direct {
                properties["search-bind-dn"] = .some(nil)
                properties["search-bind-password"] = .some(nil)
                properties["user-dn-pattern"] = ["uid=%s,\(SlapdServer.people)"]
            }
            let realm = try LDAPSetup.realm(server, properties)
            var traces: [[String]] = []
            for password in [person.password, "wrong"] {
                let before = server.searches.count
                let conversation = RecordingConversation([
                    .prepared(PreparedConversation(name: person.uid, password: Secret(utf8: password))),
                    .answers([.none, .secret(Secret(utf8: "a new password")), .secret(Secret(utf8: "a new password"))]),
                ])
                let report = try await realm.login(person.uid, asking: conversation, mayGrant: false)
                #expect(report.refusal == .locked && !report.isUnavailable, "\(report.noteTexts)")
                #expect(conversation.questions.count == 1)
                let searches = server.searches.dropFirst(before).map { "\($0)" }
                #expect(searches.count == (direct ? 0 : 1), "\(searches)")
                traces.append(searches)
            }
            #expect(traces[0] == traces[1])
            #expect(!server.received.contains("PASSMOD") && !server.received.contains("MOD dn="))
        }
    }

    @Test func `an empty password, and one with a NUL character, never reach the server`() async throws {
        let realm = try LDAPSetup.realm(server)
        #expect(try await realm.login("ann", "").failure == .wrongCredentials)
        #expect(try await realm.login("ann", "\(SlapdServer.ann.password)\0x").failure == .unusableCredential)
        #expect(server.binds == [])
        #expect(server.searches == [])
    }

    @Test func `the trace names the server, the request, the result and the time of each step`() async throws {
        let realm = try LDAPSetup.realm(server)
        let notes = try await realm.login("ann", "wrong").noteTexts
        #expect(notes.count == 2)
        let found = try #require(notes.first)
        let request = "search below dc=example,dc=org for (uid=ann)"
        #expect(found.hasPrefix("\(server.tlsURL): \(request): \(SlapdServer.ann.name), "))
        #expect(found.hasSuffix(" ms"))
        let bound = try #require(notes.last)
        #expect(bound.hasPrefix("\(server.tlsURL): bind as \(SlapdServer.ann.name): 49 (Invalid credentials); "))
        #expect(!notes.joined().contains("wrong"))
    }

    @Test func `users with special characters in their names sign in, and only as themselves`() async throws {
        let realm = try LDAPSetup.realm(server)
        for person in SlapdServer.peopleWithSpecialNames {
            let report = try await realm.login(person)
            #expect(report.identity?.subject.users == [person.uid], "\(person.uid): \(report.noteTexts)")
            #expect(report.identity?.subject.groups == ["staff"], "\(person.uid)")
            #expect(try await realm.login(person.uid, SlapdServer.ann.password).failure == .wrongCredentials)
        }
        #expect(try await realm.login("a*", SlapdServer.ann.password).failure == .unknownUser)
        #expect(try await realm.login("*)(uid=ann", SlapdServer.ann.password).failure == .unknownUser)
    }

    @Test func `a spelling that the directory takes for a name is refused unless only its case differs`() async throws {
        let realm = try LDAPSetup.realm(server)
        #expect(try await realm.login("ANN", SlapdServer.ann.password).identity?.subject.users == ["ann"])
        // slapd finds the entries for these names (RFC 4518).
        for name in ["\u{FF41}nn", "two spaces"] {
            let report = try await realm.login(name, SlapdServer.ann.password)
            #expect(report.failure == .unknownUser, "\(name)")
            #expect(report.noteTexts.contains { $0.contains("is the typed name") }, "\(name): \(report.noteTexts)")
        }
        #expect(server.binds.allSatisfy { $0 == SlapdServer.service.name || $0 == SlapdServer.ann.name })
    }

    @Test func `with a direct bind, another spelling than that of the entry gets the answer to a wrong password`()
        async throws
    {
        let realm = try LDAPSetup.realm(
            server,
            [
                "search-bind-dn": nil, "search-bind-password": nil, "group-source": ["none"],
                "user-dn-pattern": ["uid=%s,\(SlapdServer.people)"],
            ]
        )
        // slapd takes these for the names of entries (RFC 4518).
        let spaces = try #require(SlapdServer.peopleWithSpecialNames.first { $0.uid == "two  spaces" })
        for (name, person) in [("\u{FF41}nn", SlapdServer.ann), ("two spaces", spaces)] {
            let right = try await realm.login(name, person.password)
            #expect(right.failure == .wrongCredentials && right.noteTexts.contains { $0.contains("is the typed name") })
            #expect(try await realm.login(name, "wrong").failure == .wrongCredentials, "\(name)")
        }
        // Nor does a question for a new password tell that the old one is right.
        let conversation = RecordingConversation(name: "\u{FF44}ora", password: SlapdServer.dora.password)
        #expect(try await realm.login("\u{FF44}ora", asking: conversation).identity == nil)
        #expect(conversation.questions.count == 1)
    }

    @Test func `the states of accounts are told apart`() async throws {
        let realm = try LDAPSetup.realm(server, ["change-expired-password": ["false"]])
        let table: [(Person, LoginFailure?)] = [
            (SlapdServer.carl, .locked), (SlapdServer.dora, .credentialExpired), (SlapdServer.eve, .credentialExpired),
            (SlapdServer.frank, .disabled), (SlapdServer.grace, nil), (SlapdServer.holly, nil),
            (SlapdServer.ivan, .locked),
        ]
        var texts: [String] = []
        for (person, failure) in table {
            let report = try await realm.login(person)
            #expect(report.failure == failure, "\(person.uid): \(report.noteTexts)")
            texts += report.noteTexts
        }
        for text in [
            "the directory has locked the account", "the password must be changed", "the password has expired",
            "an administrator has disabled the account", "the password has expired, 2 logins are left",
            "the password expires in",
        ] {
            #expect(texts.contains { $0.contains(text) }, "\(text): \(texts)")
        }
    }

    @Test func `a user who must change the password does so by the own bind and under the directory's rules`()
        async throws
    {
        let realm = try LDAPSetup.realm(server)
        let old = SlapdServer.dora.password
        func conversation(_ passwords: String...) -> RecordingConversation {
            RecordingConversation(
                [.prepared(PreparedConversation(name: "dora", password: Secret(utf8: old)))]
                    + passwords.map {
                        .answers([.none, .secret(Secret(utf8: $0)), .secret(Secret(utf8: $0))])
                    }
            )
        }
        // HTTP Basic gives the same password for each prompt.
        #expect(try await realm.login(SlapdServer.dora).failure == .credentialExpired)
        // What another module refuses changes nothing, and shows nothing.
        let refused = conversation("a better password")
        let denying = ScriptedModule(.refuse(.wrongCredentials))
        #expect(try await realm.login("dora", asking: refused, then: denying).identity == nil)
        #expect(refused.questions.count == 1 && !server.received.contains("PASSMOD"))
        let short = conversation("short", "short", "short")
        #expect(try await realm.login("dora", asking: short).failure == .credentialExpired)
        #expect(short.questions.dropFirst(2).first?.first == .message("The new password is too short."))
        let report = try await realm.login("dora", asking: conversation("short", "a better password"))
        #expect(report.identity?.subject.users == ["dora"], "\(report.noteTexts)")
        #expect(report.identity?.subject.groups == ["staff"])
        #expect(try await realm.login("dora", old).failure == .wrongCredentials)
        #expect(try await realm.login("dora", "a better password").failure == nil)
        #expect(!server.received.contains("a better password"))
    }

    @Test func `two modules of a stack ask for one new password`() async throws {
        let realm = try LDAPSetup.realm(server)
        let old = PreparedConversation(name: "dora", password: Secret(utf8: SlapdServer.dora.password))
        let new = Secret(utf8: "a better password")
        let conversation = RecordingConversation([
            .prepared(old), .prepared(old), .answers([.none, .secret(new), .secret(new)]),
        ])
        let entries = [try realm.module(), try realm.module()].map { LoginStack.Entry($0, .required) }
        let request = LoginRequest(realm: "people", username: try Username("dora"))
        let report = await LoginStack(name: "people", entries, clock: ManualClock())
            .login(request, asking: conversation, mayGrant: true)
        #expect(report.identity?.subject.users == ["dora"], "\(report.noteTexts)")
        #expect(conversation.questions.count == 3)
    }
}
#endif

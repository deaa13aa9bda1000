// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import RealmTesting
import ServerConnections
import Testing

@testable import RealmLDAP

@Suite(.enabled(if: SambaServer.unavailable == nil, "\(SambaServer.unavailable ?? "")"))
struct SambaPasswordTests {
    private static let rule =
        "The new password does not meet the rules of the directory for its length, its characters or its age, or was "
        + "used before."

    @Test(arguments: ["mona", "peggy"])
    func `an expired password is changed by the user, who then signs in with the new one only`(
        name: String
    ) async throws {
        let server = try await SambaServer()
        let person = name == "mona" ? SambaServer.mona : SambaServer.peggy
        let realm = try SambaSetup.realm(server)
        // HTTP Basic gives the same password for each prompt.
        #expect(try await realm.login(person).failure == .credentialExpired)
        let new = "Another-word żółć 1"
        let conversation = SambaSetup.conversation(name, person.password, new: [new])
        // What another module refuses changes nothing, and shows nothing.
        let refused = SambaSetup.conversation(name, person.password, new: ["A better pass-word 1"])
        let denying = ScriptedModule(.refuse(.wrongCredentials))
        #expect(try await realm.login(name, asking: refused, then: denying).identity == nil)
        #expect(refused.questions.count == 1)
        let report = try await realm.login(name, asking: conversation)
        #expect(report.identity?.subject.users == [name], "\(report.noteTexts)")
        #expect(report.identity?.subject.groups == ["Domain Users"])
        #expect(conversation.questions.last?.first == .message("The password must be changed."))
        #expect(try await realm.login(name, person.password).failure == .wrongCredentials)
        #expect(try await realm.login(name, new).failure == nil)
        for password in [person.password, new] { #expect(!report.noteTexts.joined().contains(password)) }
    }

    @Test func `a new password against the rules is asked for again, at most three times`() async throws {
        let server = try await SambaServer()
        let realm = try SambaSetup.realm(server)
        let old = SambaServer.mona.password
        // Too short, too simple, and the same in another spelling of the prompt.
        let bad = SambaSetup.conversation("mona", old, new: ["Sh0rt", "onlylowercaseletters", "Sh0rt"])
        #expect(try await realm.login("mona", asking: bad).failure == .credentialExpired)
        let texts = bad.questions.compactMap { question -> String? in
            guard case .message(let text) = question.first else { return nil }
            return text
        }
        #expect(texts == ["The password must be changed.", Self.rule, Self.rule])
        let good = SambaSetup.conversation("mona", old, new: ["Sh0rt", "A better pass-word 1"])
        let report = try await realm.login("mona", asking: good)
        #expect(report.identity?.subject.users == ["mona"], "\(report.noteTexts)")
    }

    @Test func `a password of the history is refused as a new one`() async throws {
        let server = try await SambaServer()
        let realm = try SambaSetup.realm(server)
        let (first, second) = (SambaServer.mona.password, "A second pass-word 2")
        let change = SambaSetup.conversation("mona", first, new: [second])
        #expect(try await realm.login("mona", asking: change).failure == nil)
        try await server.modify(
            ldif: "dn: \(SambaServer.mona.name)\nchangetype: modify\nreplace: pwdLastSet\npwdLastSet: 0\n"
        )
        let back = SambaSetup.conversation("mona", second, new: [first, "A third pass-word 3"])
        let report = try await realm.login("mona", asking: back)
        #expect(report.failure == nil, "\(report.noteTexts)")
        #expect(back.questions.dropFirst(2).first?.first == .message(Self.rule))
    }

    @Test func `an old password that is no longer right is a wrong password, and not a rule`() async throws {
        let server = try await SambaServer()
        let realm = try SambaSetup.realm(server)
        let typed = TypedName(user: "mona", full: "mona")
        func change(from old: String) async throws -> PasswordChange.Answer {
            let new = Secret(utf8: "A better pass-word 1")
            return try await realm.directory.run(for: typed, source: "test") { login throws(ServerFault) in
                try login.change(typed, from: Secret(utf8: old), to: new, by: .activeDirectory)
            }
        }
        for round in 1...SambaServer.maximumFailures + 1 {
            let answer = try await change(from: "wrong")
            guard case .login(.refused(let problem)) = answer else {
                Issue.record("\(answer)")
                return
            }
            let isLocked = round > SambaServer.maximumFailures
            #expect(problem.failure == (isLocked ? .locked : .wrongCredentials), "\(round): \(problem)")
        }
        let answer = try await change(from: SambaServer.mona.password)
        guard case .login(.refused(let problem)) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(problem.failure == .locked)
    }

    @Test(arguments: ["%s@example.org", "CN=%s,\(SambaServer.people)"])
    func `without an account for searches no password is changed, and no new one is asked for`(
        pattern: String
    ) async throws {
        let realm = try SambaSetup.realm(
            try await SambaServer.shared(),
            ["search-bind-dn": nil, "search-bind-password": nil, "user-dn-pattern": [pattern], "domains": nil]
        )
        let conversation = SambaSetup.conversation("mona", SambaServer.mona.password, new: ["A better pass-word 1"])
        let failure = try await realm.login("mona", asking: conversation).failure
        // The common name of the user has blanks, with which no user binds directly.
        #expect(failure == (pattern.hasPrefix("%s") ? .credentialExpired : .wrongCredentials))
        #expect(conversation.questions.count == 1)
    }

    @Test func `a user without a change of an expired password is refused, and asked for nothing`() async throws {
        let realm = try SambaSetup.realm(try await SambaServer.shared(), ["change-expired-password": ["false"]])
        let conversation = SambaSetup.conversation("peggy", SambaServer.peggy.password, new: ["A better pass-word 1"])
        #expect(try await realm.login("peggy", asking: conversation).failure == .credentialExpired)
        #expect(conversation.questions.count == 1)
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import RealmTesting
import Testing

@testable import RealmPAM

/// Logins by pam_unix, with users of a private system.
@Suite(.enabled(if: PrivateSystem.obstacle == nil, "\(PrivateSystem.obstacle ?? "")"))
struct PAMUnixTests {
    private static let lines = """
        auth required pam_unix.so
        account required pam_unix.so
        password required pam_unix.so sha512 rounds=1000
        """

    private let system: PrivateSystem
    private let setup: PAMSetup

    init() throws {
        system = try PrivateSystem()
        setup = try PAMSetup(Self.lines, ["helper": .string(system.helper)])
    }

    @Test func `a user with the right password is accepted, with the groups and the full name of the system`()
        async throws
    {
        let report = try await setup.login("ann", PrivateSystem.password)
        #expect(report.identity?.subject.users == ["ann"], "\(report.texts)")
        #expect(report.identity?.groups == ["people", "staff", "crew"])
        let fullName = try UserAttribute(name: UserAttribute.displayName, values: ["Ann Smith"])
        #expect(report.identity?.attributes == [fullName])
        let ann = try Username("ann")
        #expect(try await setup.realm.groupNames(of: ann) == ["people", "staff", "crew"])
        #expect(try await setup.realm.attributes(of: ann) == [fullName])
        let unknown = await #expect(throws: RealmError.self) {
            try await setup.realm.attributes(of: try Username("zed"))
        }
        #expect(unknown?.code == .noSuchUser)
    }

    @Test(arguments: ["gone", "bytes", "long"])
    func `a full name that is empty, too long or not UTF-8 is left out`(name: String) async throws {
        #expect(try await setup.realm.groupNames(of: try Username(name)) == ["people"])
        #expect(try await setup.realm.attributes(of: try Username(name)) == [])
        guard name != "gone" else { return }
        let report = try await setup.login(name, PrivateSystem.password)
        #expect(report.identity != nil, "\(report.texts)")
        #expect(report.identity?.attributes == [])
    }

    @Test(
        arguments: [
            ("ann", "lilac", LoginFailure.wrongCredentials), ("ann", "", .wrongCredentials),
            ("ann", "Lilac tree", .wrongCredentials), ("ann", "lilac tree ", .wrongCredentials),
            // pam_unix does not tell a locked password from a wrong one.
            ("locked", PrivateSystem.password, .wrongCredentials), ("star", PrivateSystem.password, .wrongCredentials),
            ("star", "*", .wrongCredentials), ("none", "", .wrongCredentials),
            ("none", PrivateSystem.password, .wrongCredentials),
            ("zed", PrivateSystem.password, .unknownUser), ("Ann", PrivateSystem.password, .unknownUser),
            ("gone", PrivateSystem.password, .accountExpired), ("gone", "lilac", .wrongCredentials),
            ("idle", PrivateSystem.password, .credentialExpired), ("old", "lilac", .wrongCredentials),
        ] as [(String, String, LoginFailure)]
    )
    func `all others are refused, each for its own reason`(
        name: String,
        password: String,
        failure: LoginFailure
    ) async throws {
        let report = try await setup.login(name, password)
        #expect(report.identity == nil)
        #expect(report.refusal?.failure == failure, "\(report.texts)")
    }

    @Test(arguments: ["old", "new"])
    func `an expired password is replaced in the shadow file, and the old one is no longer accepted`(
        name: String
    ) async throws {
        func answer(_ password: String) -> PreparedConversation {
            PreparedConversation(password: Secret(utf8: password))
        }
        let before = system.shadowLine(of: name)
        // HTTP Basic has no new password, and the old one is no new one.
        #expect(try await setup.login(name, PrivateSystem.password).refusal?.failure == .credentialExpired)
        #expect(system.shadowLine(of: name) == before)
        let conversation = PAMSetup.conversation(
            PrivateSystem.password,
            answer("mint and thyme"),
            answer("mint and thyme")
        )
        let report = try await setup.login(name, conversation)
        #expect(report.identity?.groups == (name == "old" ? ["people", "staff"] : ["people"]), "\(report.texts)")
        let prompts = conversation.questions.dropFirst().map { callbacks in
            callbacks.filter { if case .password = $0 { true } else { false } }
        }
        #expect(prompts == [[.password(prompt: "New password")], [.password(prompt: "Retype new password")]])
        #expect(system.shadowLine(of: name) != before)
        #expect(try await setup.login(name, "mint and thyme").identity != nil)
        #expect(try await setup.login(name, PrivateSystem.password).refusal?.failure == .wrongCredentials)
    }

    @Test func `a helper in the group shadow accepts users, and one without rights is unavailable`() async throws {
        for (group, isMember) in [(42, true), (65534, false)] {
            let other = try PrivateSystem(startedBy: "setpriv --reuid 65534 --regid \(group) --clear-groups")
            let setup = try PAMSetup(Self.lines, ["helper": .string(other.helper)])
            let report = try await setup.login("ann", PrivateSystem.password)
            #expect((report.identity != nil) == isMember, "\(report.texts)")
            #expect(report.refusal?.failure == (isMember ? nil : .unavailable))
            let wrong = try await setup.login("ann", "wrong")
            #expect(wrong.refusal?.failure == (isMember ? .wrongCredentials : .unavailable))
            // Neither of them may write to the shadow file.
            let new = PreparedConversation(password: Secret(utf8: "mint and thyme"))
            let change = try await setup.login("old", PAMSetup.conversation(PrivateSystem.password, new, new))
            #expect(change.refusal?.failure == (isMember ? .credentialExpired : .unavailable), "\(change.texts)")
            #expect(other.shadowLine(of: "old") == system.shadowLine(of: "old"))
        }
    }
}

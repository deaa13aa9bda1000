// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import RealmTesting
import SeededRandom
import TestTools
import Testing

@testable import RealmPAM

/// Logins by the system's libpam, with private services.
@Suite(.enabled(if: TestModule.obstacle == nil, "\(TestModule.obstacle ?? "")"))
struct PAMLoginTests {
    private static let people = "auth required MODULE check\naccount required pam_permit.so"

    @Test func `the realm and its module pass the conformance tests`() async throws {
        let setup = try PAMSetup(Self.people)
        let module = LoginModuleConformance(
            try setup.module,
            accepts: [.init("ann", password: "lilac"), .init("bob", password: "basil")],
            refuses: [
                .init("ann", password: "basil"), .init("ann", password: ""), .init("Ann", password: "lilac"),
                .init("zed", password: "lilac"), .init("-ann", password: "lilac"), .init("ann", password: "lilac\0"),
                .init("ann", password: String(repeating: "l", count: 100_000)), .init("ann\\", password: "lilac"),
                .init(String(repeating: "ann", count: 300), password: "lilac"),
            ],
            timeLimit: .seconds(60)
        )
        #expect(await module.violations() == [])
        let realm = RealmConformance(
            PAMRealm.self,
            properties: ["confdir": [setup.folder.path], "helper": [TestModule.helper]],
            members: ["root": ["root"]],
            unknownUsers: ["no-such-user", "-root"],
            spellings: [["ann", "Ann"]]
        )
        #expect(await realm.violations() == [])
    }

    @Test func `the groups of a login are those of the system`() async throws {
        let setup = try PAMSetup("auth required pam_permit.so\naccount required pam_permit.so")
        let report = try await setup.login("root")
        #expect(report.identity?.groups.contains("root") == true, "\(report.texts)")
        #expect(try await setup.login("no-such-user").identity?.groups == [])
        let daemon = try PAMSetup("auth required MODULE rename daemon\naccount required pam_permit.so")
        let renamed = try await daemon.login("ann")
        #expect(renamed.identity?.subject.users == ["daemon"])
        #expect(renamed.identity?.groups == ["daemon"])
    }

    /// The codes of Linux-PAM, and what they mean for a login.
    static let codes: [(Int32, LoginFailure)] = [
        (1, .unavailable), (2, .unavailable), (3, .unavailable), (4, .unavailable), (5, .unavailable),
        (6, .permissionDenied), (7, .wrongCredentials), (8, .unavailable), (9, .unavailable), (10, .unknownUser),
        (11, .locked), (12, .credentialExpired), (13, .accountExpired), (14, .unavailable), (15, .missingCredential),
        (16, .credentialExpired), (17, .unusableCredential), (18, .unavailable), (19, .unavailable), (20, .unavailable),
        (21, .unavailable), (22, .unavailable), (23, .unavailable), (24, .unavailable), (25, .permissionDenied),
        (26, .unavailable), (27, .credentialExpired), (28, .unavailable), (29, .unavailable), (30, .unavailable),
        // Codes that libpam does not know.
        (32, .permissionDenied), (99, .permissionDenied), (-1, .permissionDenied), (2_000_000_000, .permissionDenied),
    ]

    @Test(arguments: codes)
    func `each code of pam_acct_mgmt is a failure of its kind`(code: Int32, failure: LoginFailure) async throws {
        let account = try PAMSetup(
            "auth required pam_permit.so\naccount required MODULE code \(code)",
            ["change-expired-password": .boolean(false)]
        )
        let report = try await account.login("ann")
        #expect(report.identity == nil)
        #expect(report.refusal?.failure == failure, "\(report.texts)")
    }

    @Test(arguments: codes.filter { $0.0 != 12 })
    func `each code of pam_authenticate is a failure of its kind`(code: Int32, failure: LoginFailure) async throws {
        let setup = try PAMSetup("auth required MODULE code \(code)\naccount required pam_permit.so")
        let report = try await setup.login("ann")
        #expect(report.identity == nil)
        #expect(report.refusal?.failure == failure, "\(report.texts)")
    }

    @Test(
        arguments: [
            ("auth required pam_permit.so\naccount required pam_permit.so", nil),
            ("auth required pam_deny.so\naccount required pam_permit.so", LoginFailure.wrongCredentials),
            ("auth required pam_permit.so\naccount required pam_deny.so", .wrongCredentials),
            ("auth required pam_debug.so auth=authinfo_unavail\naccount required pam_permit.so", .unavailable),
            ("auth required pam_debug.so auth=maxtries\naccount required pam_permit.so", .locked),
            ("auth required pam_permit.so\naccount required pam_debug.so acct=acct_expired", .accountExpired),
            ("auth required pam_exec.so quiet expose_authtok FOLDER/lilac.sh\naccount required pam_permit.so", nil),
            ("auth required pam_exec.so quiet expose_authtok /bin/false\naccount required pam_permit.so", .unavailable),
            ("auth required pam_no_such_module.so\naccount required pam_permit.so", .unavailable),
            // No account lines: the service other, which denies.
            ("auth required pam_permit.so", .wrongCredentials),
            ("this is no service", .permissionDenied),
        ] as [(String, LoginFailure?)]
    )
    func `the modules of the system decide`(lines: String, failure: LoginFailure?) async throws {
        let setup = try PAMSetup(lines)
        let script = try setup.folder.script("read -r password; [ \"$password\" = lilac ]", name: "lilac.sh")
        #expect(script.hasSuffix("lilac.sh"))
        let report = try await setup.login("ann")
        #expect(report.refusal?.failure == failure, "\(report.texts)")
        #expect((report.identity != nil) == (failure == nil))
    }

    @Test func `pam_unix rejects a user without a password`() async throws {
        let setup = try PAMSetup("auth required pam_unix.so\naccount required pam_unix.so")
        let report = try await setup.login("daemon")
        #expect(report.identity == nil)
        #expect(report.refusal?.failure != .unavailable, "\(report.texts)")
        let unknown = try await setup.login("no-such-user")
        #expect(unknown.refusal?.failure == .unknownUser, "\(unknown.texts)")
    }

    @Test func `a second prompt is shown to the user with the texts before it`() async throws {
        let setup = try PAMSetup("auth required MODULE one-time-code\naccount required pam_permit.so")
        let right = PAMSetup.conversation("lilac", PreparedConversation(code: Secret(utf8: "123456")))
        let report = try await setup.login("ann", right)
        #expect(report.identity != nil, "\(report.texts)")
        let questions: [[Callback]] = [
            [.password(prompt: "Password")], [.message("A code was sent."), .oneTimeCode(prompt: "Verification code")],
        ]
        #expect(right.questions == questions)
        let wrong = PAMSetup.conversation("lilac", PreparedConversation(code: Secret(utf8: "1")))
        #expect(try await setup.login("ann", wrong).refusal?.failure == .wrongCredentials)
        // A client with HTTP Basic has a password and no code.
        #expect(try await setup.login("ann", "lilac").refusal?.failure == .missingCredential)
        #expect(try await setup.login("ann", "basil").refusal?.failure == .wrongCredentials)
    }

    @Test func `a client that goes away during a prompt ends its login, and the helper is replaced`() async throws {
        let setup = try PAMSetup(
            "auth required MODULE one-time-code\naccount required pam_permit.so",
            ["helpers": .integer(1)]
        )
        let password = RecordingConversation.Reply.prepared(PreparedConversation(password: Secret(utf8: "lilac")))
        let gone = RecordingConversation([password, .fault(.unavailable("gone"))])
        #expect(try await setup.login("ann", gone).refusal?.failure == .unavailable)
        let waiting = RecordingConversation([password, .never])
        let login = Task { try await setup.login("ann", waiting) }
        await waiting.untilCalled(2)
        login.cancel()
        #expect(try await login.value.identity == nil)
        let right = PAMSetup.conversation("lilac", PreparedConversation(code: Secret(utf8: "123456")))
        #expect(try await setup.login("ann", right).identity != nil)
    }

    @Test func `a user who does not answer a prompt does not hold a helper for ever`() async throws {
        let setup = try PAMSetup(
            "auth required MODULE one-time-code\naccount required pam_permit.so",
            ["helpers": .integer(1), "prompt-timeout": .duration(.milliseconds(300))]
        )
        let held = RecordingConversation([
            .prepared(PreparedConversation(password: Secret(utf8: "lilac"))),
            .held(PreparedConversation(code: Secret(utf8: "123456"))),
        ])
        let login = Task { try await setup.login("ann", held) }
        await held.untilCalled(2)
        let right = PAMSetup.conversation("lilac", PreparedConversation(code: Secret(utf8: "123456")))
        #expect(try await setup.login("ann", right).identity != nil)
        held.release()
        #expect(try await login.value.refusal?.failure == .unavailable)
    }

    @Test func `a prompt that is not answered in time ends the login without the user`() async throws {
        let setup = try PAMSetup(
            "auth required MODULE one-time-code\naccount required pam_permit.so",
            ["prompt-timeout": .duration(.milliseconds(300))]
        )
        let password = RecordingConversation.Reply.prepared(PreparedConversation(password: Secret(utf8: "lilac")))
        let report = try await setup.login("ann", RecordingConversation([password, .never]))
        #expect(report.refusal?.failure == .unavailable)
        #expect(report.texts.contains("no answer in time"), "\(report.texts)")
        // A user who has typed a password and leaves counts as a failed login.
        let left = LeavingConversation(password: Secret(utf8: "lilac"))
        #expect(try await setup.login("ann", left).refusal?.failure == .wrongCredentials)
    }

    @Test(arguments: [31, 32, 33, 50])
    func `a module may ask 32 times at most`(count: Int) async throws {
        let setup = try PAMSetup("auth required MODULE ask \(count)\naccount required pam_permit.so")
        let report = try await setup.login("ann", RecordingConversation(password: "lilac", code: "1"))
        #expect((report.identity != nil) == (count <= 32), "\(report.texts)")
    }

    @Test func `an expired password is changed if the user can be asked for a new one`() async throws {
        let lines = """
            auth required MODULE check
            account required MODULE code 12
            password required MODULE FOLDER/new-password
            """
        let setup = try PAMSetup(lines)
        func answer(_ password: String) -> PreparedConversation {
            PreparedConversation(password: Secret(utf8: password))
        }
        // What another module refuses changes nothing, and shows nothing.
        let refused = PAMSetup.conversation("lilac", answer("mint"), answer("mint"))
        let denying = ScriptedModule(.refuse(.wrongCredentials))
        #expect(try await setup.login("ann", refused, then: denying).identity == nil)
        #expect(refused.questions.count == 1 && setup.folder.text("new-password") == "")
        let right = PAMSetup.conversation("lilac", answer("mint and thyme"), answer("mint and thyme"))
        let report = try await setup.login("ann", right)
        #expect(report.identity != nil, "\(report.texts)")
        #expect(setup.folder.text("new-password") == "mint and thyme")
        let questions: [[Callback]] = [
            [.password(prompt: "Password")], [.password(prompt: "New password")],
            [.password(prompt: "Retype new password")],
        ]
        #expect(right.questions == questions)
        let mistyped = PAMSetup.conversation("lilac", answer("mint"), answer("thyme"))
        #expect(try await setup.login("ann", mistyped).refusal?.failure == .credentialExpired)
        // HTTP Basic gives the same password again, which is no new one.
        #expect(try await setup.login("ann", "lilac").refusal?.failure == .credentialExpired)
        #expect(try await setup.login("ann", "basil").refusal?.failure == .wrongCredentials)
        #expect(setup.folder.text("new-password") == "mint and thyme")
        let forbidden = try PAMSetup(lines, ["change-expired-password": .boolean(false)])
        let again = PAMSetup.conversation("lilac", answer("mint"), answer("mint"))
        #expect(try await forbidden.login("ann", again).refusal?.failure == .credentialExpired)
        #expect(again.questions.count == 1)
    }

    @Test func `two modules of a stack ask for one new password`() async throws {
        let setup = try PAMSetup(
            """
            auth required MODULE check
            account required MODULE code 12
            password required MODULE FOLDER/new-password
            """
        )
        let old = PreparedConversation(password: Secret(utf8: "lilac"))
        let new = PreparedConversation(password: Secret(utf8: "mint and thyme"))
        let conversation = PAMSetup.conversation("lilac", old, new, new)
        let modules = [try setup.module, try setup.module]
        let entries = modules.map { LoginStack.Entry($0, .required, deadline: .seconds(120)) }
        let request = LoginRequest(realm: "system", username: try Username("ann"), service: "tests")
        let report = await LoginStack(name: "system", entries, clock: SystemTime())
            .login(request, asking: conversation, mayGrant: true)
        #expect(report.identity != nil, "\(report.texts)")
        #expect(conversation.questions.count == 4)
        #expect(setup.folder.text("new-password") == "mint and thyme")
    }

    /// 12 is PAM_NEW_AUTHTOK_REQD, 4 PAM_SYSTEM_ERR.
    @Test(arguments: [12, 4])
    func `while an account is locked, nothing follows pam_authenticate`(code: Int) async throws {
        let setup = try PAMSetup(
            """
            auth required MODULE check
            account required MODULE code \(code)
            password required MODULE FOLDER/new-password
            """
        )
        for password in ["lilac", "basil"] {
            let new = PreparedConversation(password: Secret(utf8: "mint and thyme"))
            let conversation = PAMSetup.conversation(password, new, new)
            let report = try await setup.login("ann", conversation, mayGrant: false)
            #expect(report.refusal == .locked && !report.isUnavailable, "\(report.texts)")
            #expect(conversation.questions.count == 1)
            #expect(!report.texts.contains("pam_acct_mgmt"), "\(report.texts)")
        }
        #expect(setup.folder.text("new-password") == "")
    }

    @Test func `service, user, address and terminal are passed to the modules`() async throws {
        let setup = try PAMSetup("auth required MODULE seen\naccount required pam_permit.so")
        #expect(try await setup.login("ann b'; c", peer: "192.0.2.7").identity != nil)
        #expect(try await setup.login("bob").identity != nil)
        try await Waiting.until { setup.log.count == 2 }
        let lines = ["seen gatehouse ann b'; c 192.0.2.7 gatehouse", "seen gatehouse bob - gatehouse"]
        #expect(setup.log == lines.map { "gatehouse-pam-helper: \($0)" })
    }

    @Test func `names with any characters arrive unchanged`() async throws {
        let setup = try PAMSetup("auth required pam_permit.so\naccount required pam_permit.so")
        var random = Random(seed: 31)
        let parts = [
            "-", "a", " ", "'", "\"", "\\", "$(id)", "%s", "%n", ":", ",", "/", "../", "é", "e\u{301}", "日本", "😀", "#",
        ]
        for _ in 0..<200 {
            let name = (0..<(1 + random.below(8))).map { _ in random.pick(parts) }.joined()
            guard let user = try? Username(name) else { continue }
            let report = try await setup.login(name)
            #expect(report.identity?.username == user, "\(name.debugDescription): \(report.texts)")
        }
    }
}

/// A user who answers no question after the password, and whose absence counts as a wrong password.
private final class LeavingConversation: Conversation {
    private let prepared: PreparedConversation

    init(password: Secret) { prepared = PreparedConversation(password: password) }

    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        if case .password? = callbacks.first { return try await prepared.answer(callbacks) }
        do throws(CancellationError) {
            try await ManualClock().sleep(until: .max)
            return []
        } catch {
            throw LoginFault(.wrongCredentials, log: "the user has left the sign-in")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import RealmConfiguration
import RealmKit
import RealmTesting
import Testing

@testable import Prover

struct ModuleAnswersTests {
    private let stack = LoginStack(
        name: "lane",
        [
            .init(ScriptedModule(.fail(.internalError("called"))), .required, name: "A"),
            .init(ScriptedModule(.fail(.internalError("called"))), .sufficient, name: "B"),
            .init(ScriptedModule(.fail(.internalError("called"))), .optional, name: "B"),
        ],
        clock: ManualClock()
    )

    private func login(_ text: String) throws -> LoginReport {
        try ModuleAnswers(text, for: stack).login(LoginRequest(realm: "lane", username: Username("ann")))
    }

    @Test(arguments: [
        ("A=success", "A=success B=wrong-credentials B#2=wrong-credentials", true),
        ("A=success B=success", "A=success B=success", true),
        ("B#2=unavailable A=disabled", "A=disabled B=wrong-credentials B#2=unavailable", false),
        ("", "A=wrong-credentials B=wrong-credentials B#2=wrong-credentials", false),
    ])
    func `a stack decides by given answers, and calls no module`(
        text: String,
        steps: String,
        grants: Bool
    ) throws {
        let report = try login(text)
        let given = report.steps.filter { $0.phase == .login }.map { "\(stack.answerName(of: $0.index))=\($0.outcome)" }
        #expect(given.joined(separator: " ") == steps)
        #expect((report.identity != nil) == grants)
    }

    @Test(arguments: [
        ("A", "A is no answer of a module"), ("=success", "=success is no answer"),
        ("A=", "A=: the answers of modules are"),
        ("A=succes", "A=succes: the answers of modules are success, ignored, wrong-credentials"),
        ("A=success A=success", "A has two answers"),
    ])
    func `an answer that cannot be read is an error, which names those that exist`(text: String, message: String) {
        do throws(ModuleAnswers.Fault) {
            _ = try ModuleAnswers(text, for: stack)
            Issue.record("\(text) was accepted")
        } catch {
            #expect(error.text.hasPrefix(message), "\(error.text)")
        }
    }

    @Test func `a name that the stack does not have is reported, and names are compared by their bytes`() throws {
        let answers = try ModuleAnswers("A=success B#3=success a=success \u{212B}=success", for: stack)
        #expect(answers.unknownNames == ["B#3", "a", "\u{212B}"])
        #expect(ModuleAnswers.names(in: stack) == ["A", "B", "B#2"])
        let spaced = LoginStack(
            name: "spaced",
            [.init(ScriptedModule(), .required, name: "A"), .init(ScriptedModule(), .required, name: "my door")],
            clock: ManualClock()
        )
        let granted = try ModuleAnswers("my door=success A=success", for: spaced)
        #expect(granted.unknownNames == [])
        #expect(granted.login(LoginRequest(realm: "spaced", username: try Username("ann"))).identity != nil)
        let ring = LoginStack(
            name: "ring",
            [.init(ScriptedModule(), .required, name: "\u{C5}")],
            clock: ManualClock()
        )
        #expect(try ModuleAnswers("\u{212B}=success", for: ring).unknownNames.count == 1)
    }

    @Test(arguments: [
        ("A=unavailable", "decided by A (required): unavailable counts as a failure|granted, if A=success"),
        (
            "A=ignored B=disabled",
            "decided by B (sufficient): disabled does not count, and nothing else does|granted, if A=success"
        ),
        ("A=ignored B=ignored B#2=ignored", "no module has decided: all have ignored the login|granted, if A=success"),
        ("A=disabled B=success", "decided by A (required): disabled counts as a failure|granted, if A=success"),
    ])
    func `a refusal is explained by the module that decided and the smallest change`(
        text: String,
        lines: String
    ) throws {
        #expect(RefusalExplanation(try login(text))?.lines.joined(separator: "|") == lines)
    }

    @Test func `an account part in which nothing counts is explained by what came before it`() throws {
        let table = ActionTable(success: .ok, ignored: .ignore, failure: .bad)
        let parts = LoginStack(
            name: "parts",
            [
                .init(ScriptedModule(), .required, name: "A"), .boundary("account"),
                .init(ScriptedModule(), table, control: "required", name: "B"),
            ],
            clock: ManualClock()
        )
        let request = LoginRequest(realm: "parts", username: try Username("ann"))
        let report = try ModuleAnswers("A=success B=ignored", for: parts).login(request)
        let first = "the modules before account granted, and none after it has decided: all have ignored the login"
        #expect(RefusalExplanation(report)?.lines == [first, "granted, if B=success"])
        // pam_nologin ignores or refuses each login.
        let nologin = LoginStack.Entry(ScriptedModule(), table, control: "required", name: "pam_nologin")
        let closed = LoginStack(name: "closed", [parts.entries[0], parts.entries[1], nologin], clock: ManualClock())
        let refused = try ModuleAnswers("A=success pam_nologin=ignored", for: closed).login(request)
        #expect(RefusalExplanation(refused)?.lines == [first, "no answers of the modules grant a login in this stack"])
    }

    @Test func `a failure in the commit phase is explained, and a granted login is not`() async throws {
        let failing = ScriptedModule(commit: .fail(.unavailable("gone")))
        let late = LoginStack(name: "late", [.init(failing, .required, name: "A")], clock: ManualClock())
        let request = LoginRequest(realm: "late", username: try Username("ann"))
        let report = await late.login(request, asking: PreparedConversation.silent)
        #expect(
            RefusalExplanation(report)?.lines == [
                "decided by A (required): unavailable in its commit counts as a failure"
            ]
        )
        #expect(RefusalExplanation(try login("A=success")) == nil)
        let locked = await late.login(request, asking: PreparedConversation.silent, mayGrant: false)
        #expect(locked.refusal == .locked && RefusalExplanation(locked) == nil)
    }

    @Test func `a module with a single answer keeps it, and a stack that never grants says so`() throws {
        let configuration = """
            login closed { DenyLoginModule requisite; ScriptedLoginModule optional; }
            realm closed { class StackRealm; jaas-context closed; }
            """
        let files = ConfigurationFiles(read: { _ in .success(Array(configuration.utf8)) }, environment: { _ in nil })
        let loader = ConfigurationLoader(builtInRealms, files: files, clock: ManualClock())
        let closed = try #require(try loader.load("realms.conf").realms.first?.stack)
        let report = try ModuleAnswers("DenyLoginModule=permission-denied", for: closed)
            .login(LoginRequest(realm: "closed", username: Username("ann")))
        let lines = try #require(RefusalExplanation(report)?.lines)
        #expect(lines.last == "no answers of the modules grant a login in this stack")
        let first = "decided by DenyLoginModule (requisite at realms.conf:1:16): "
        #expect(lines.first == "\(first)permission-denied counts as a failure, and ends the stack")
        #expect(throws: ModuleAnswers.Fault.self) { try ModuleAnswers("DenyLoginModule=success", for: closed) }
    }
}

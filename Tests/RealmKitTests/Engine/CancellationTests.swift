// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

struct CancellationTests {
    @Test(arguments: ControlFlag.allCases)
    func `a cancelled login is refused and calls no later module, with every control flag`(
        flag: ControlFlag
    ) async throws {
        let held = ScriptedModule(.hold())
        let waiting = ScriptedModule(.accept(groups: ["Admin"]))
        let calls = CallLog()
        let stack = stack(
            .optional(ScriptedModule()),
            LoginStack.Entry(held, flag),
            .optional(FixedVerdictModule(.success, calls: calls)),
            .sufficient(waiting)
        )
        let task = Task { try await stack.login() }
        await held.untilCalled()
        task.cancel()
        let report = try await task.value
        #expect(report.refusal == .module(index: 1, phase: .login, failure: .unavailable))
        #expect(calls.all == [])
        #expect(waiting.calls == [])
        #expect(report.steps.filter { $0.phase == .login }.map(\.index) == [0, 1])
    }

    @Test func `a login cancelled during a commit is refused, and all modules are aborted`() async throws {
        let held = ScriptedModule(commit: .hold)
        let other = ScriptedModule()
        let stack = stack(.optional(held), .required(other))
        let task = Task { try await stack.login() }
        await held.untilCalled(2)
        task.cancel()
        let report = try await task.value
        #expect(report.refusal == .module(index: 0, phase: .commit, failure: .unavailable))
        #expect(report.steps.filter { $0.phase == .abort }.map(\.index) == [0, 1])
        #expect(!other.phases.contains(.commit))
    }

    @Test func `a login cancelled before it begins calls no module that can suspend`() async throws {
        let module = ScriptedModule()
        let stack = stack(.required(module))
        let begin = RecordingConversation([.held(.silent)])
        let task = Task {
            _ = try await begin.answer([])
            return try await stack.login()
        }
        await begin.untilCalled()
        task.cancel()
        begin.release()
        let report = try await task.value
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .unavailable))
        #expect(module.calls == [])
    }

    @Test func `the module that runs during a cancellation is cancelled and aborted`() async throws {
        let conversation = RecordingConversation([.never])
        let ended = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                _ = try await attempt.password()
                return attempt.commit()
            }
        )
        let stack = stack(.required(ended))
        let login = try request()
        let task = Task { await stack.login(login, asking: conversation) }
        await conversation.untilCalled()
        task.cancel()
        let report = await task.value
        #expect(report.refusal?.failure == .unavailable)
        await ended.untilCalled(2)
        #expect(ended.phases == [.login, .abort])
    }
}

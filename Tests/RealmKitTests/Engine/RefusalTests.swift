// SPDX-License-Identifier: Apache-2.0

import Bytes
import RealmKit
import RealmTesting
import Testing

struct RefusalTests {
    @Test func `a stack without modules refuses every login`() async throws {
        let report = try await stack().login()
        #expect(report.refusal == .emptyStack)
        #expect(report.refusal?.failure == .permissionDenied)
        #expect(report.steps.isEmpty)
    }

    @Test(arguments: ControlFlag.allCases)
    func `a stack whose modules all return ignored refuses the login`(flag: ControlFlag) async throws {
        let silent = ScriptedModule(.ignore)
        let report = try await stack(LoginStack.Entry(silent, flag), LoginStack.Entry(silent, flag)).login()
        #expect(report.refusal == .allIgnored)
        #expect(silent.phases == [.login, .login, .abort, .abort])
    }

    @Test func `a login that no module commits is refused`() async throws {
        let report = try await stack(.required(ScriptedModule(commit: .ignore))).login()
        #expect(report.refusal == .allIgnored)
        #expect(report.calls == ["0.login=success", "0.commit=ignored", "0.abort=success"])
    }

    @Test(arguments: ControlFlag.allCases)
    func `a module that throws fails under its flag`(flag: ControlFlag) async throws {
        let thrower = ScriptedModule(.fail(.internalError("bang")))
        let report = try await stack(LoginStack.Entry(thrower, flag), .required(ScriptedModule())).login()
        let isRequired = flag == .required || flag == .requisite
        #expect(report.refusal == (isRequired ? .module(index: 0, phase: .login, failure: .internalError) : nil))
        #expect(report.steps[0].fault?.log == "bang")
    }

    @Test(arguments: ControlFlag.allCases)
    func `a module that cannot be created fails under its flag`(flag: ControlFlag) async throws {
        let entry = LoginStack.Entry.broken("gone", flag, fault: .unavailable("no such library"))
        let report = try await stack(entry, .required(ScriptedModule())).login()
        let isRequired = flag == .required || flag == .requisite
        #expect(report.refusal == (isRequired ? .module(index: 0, phase: .login, failure: .unavailable) : nil))
        #expect(report.steps[0].module == "gone")
        #expect(report.steps[0].fault?.log == "no such library")
    }

    @Test func `the log has the answers of all modules that a refused login reached, up to a limit`() async throws {
        let entries: [LoginStack.Entry] = [
            .init(ScriptedModule(), .required, name: "A\u{E9}"),
            .init(ScriptedModule(.refuse(.wrongCredentials)), .required, name: "B"),
            .init(ScriptedModule(.refuse(.disabled)), .requisite, name: "B"),
            .init(ScriptedModule(), .required, name: "C"),
        ]
        let answers = #"answers="A\u{e9}=success B=wrong-credentials B#2=disabled""#
        let stack = LoginStack(name: "lane", entries, clock: ManualClock())
        let request = LoginRequest(realm: "lane", username: try Username("ann"))
        let report = await stack.login(request, asking: PreparedConversation.silent)
        #expect(LogText.reason(report) == " wrong-credentials module=1 phase=login \(answers)")
        let locked = await stack.login(request, asking: PreparedConversation.silent, mayGrant: false)
        #expect(LogText.reason(locked) == " locked")
        let many = LoginStack(
            name: "many",
            (0..<1000).map { .init(ScriptedModule(.ignore), .required, name: "M\($0)") },
            clock: ManualClock()
        )
        let reason = LogText.reason(await many.login(request, asking: PreparedConversation.silent))
        #expect(
            reason.hasPrefix(#" all-ignored answers="M0=ignored M1=ignored "#) && reason.hasSuffix(#"=ignored ...""#)
        )
        #expect(reason.utf8.count > 500 && reason.utf8.count < 550, "\(reason)")
    }

    @Test func `the log has no answers of a login that the client ended`() async throws {
        let held = ScriptedModule(.hold())
        let stack = stack(.required(ScriptedModule()), .required(held))
        let task = Task { try await stack.login() }
        await held.untilCalled()
        task.cancel()
        let reason = LogText.reason(try await task.value)
        #expect(reason.hasPrefix(" unavailable module=1 phase=login "), "\(reason)")
        #expect(!reason.contains("answers"), "\(reason)")
    }

    @Test func `a required module that throws in its commit fails the login, and all reached modules are aborted`()
        async throws
    {
        let first = ScriptedModule()
        let second = ScriptedModule(commit: .fail(.unavailable("disk full")))
        let third = ScriptedModule()
        let report = try await stack(.required(first), .required(second), .optional(third)).login()
        #expect(report.refusal == .module(index: 1, phase: .commit, failure: .unavailable))
        #expect(first.phases == [.login, .commit, .abort])
        #expect(second.phases == [.login, .commit, .abort])
        #expect(third.phases == [.login, .commit, .abort])
    }

    @Test func `a module after a requisite failure or a sufficient success is not called`() async throws {
        let unreached = ScriptedModule()
        _ = try await stack(.requisite(ScriptedModule(.refuse(.locked))), .required(unreached)).login()
        _ = try await stack(.sufficient(ScriptedModule()), .required(unreached)).login()
        #expect(unreached.calls == [])
    }

    @Test func `after a failed abort the refusal is the same, and the next module is still aborted`() async throws {
        let broken = ScriptedModule(.refuse(.wrongCredentials), abort: .fail(.internalError("bang")))
        let last = ScriptedModule()
        let report = try await stack(.required(broken), .required(last)).login()
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .wrongCredentials))
        #expect(last.phases == [.login, .abort])
    }

    @Test(arguments: [RecordingConversation.Reply.answers([]), .answers([.none, .none])])
    func `a wrong number of answers fails the module with an internal error`(
        reply: RecordingConversation.Reply
    ) async throws {
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                _ = try await attempt.ask([.certificate])
                return attempt.commit()
            }
        )
        let report = await stack(.required(module)).login(try request(), asking: RecordingConversation([reply]))
        #expect(report.refusal?.failure == .internalError)
    }
}

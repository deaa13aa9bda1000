// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

struct ForgeryTests {
    @Test(arguments: ControlFlag.allCases)
    func `a success of an earlier login counts as a failure`(flag: ControlFlag) async throws {
        let captured = CapturedValue<Verdict>()
        let forger = ScriptedModule(
            .run { attempt in
                if let earlier = captured.value { return earlier }
                captured.set(attempt.commit())
                return .failed(.permissionDenied)
            }
        )
        let stack = stack(LoginStack.Entry(forger, flag))
        let first = try await stack.login()
        #expect(first.identity == nil)
        let second = try await stack.login()
        #expect(second.identity == nil)
        #expect(second.steps.first?.outcome == .failure(.internalError))
    }

    @Test func `a success of another module in the same login counts as a failure`() async throws {
        let captured = CapturedValue<Verdict>()
        let honest = ScriptedModule(
            .run { attempt in
                let verdict = attempt.commit(groups: ["User"])
                captured.set(verdict)
                return verdict
            }
        )
        let thief = ScriptedModule(.run { _ in captured.value ?? .ignored })
        let report = try await stack(.optional(honest), .required(thief)).login()
        #expect(report.refusal == .module(index: 1, phase: .login, failure: .internalError))
    }

    @Test func `a success from the attempt of an earlier login counts as a failure`() async throws {
        let captured = CapturedValue<LoginAttempt>()
        let module = ScriptedModule(
            .run { attempt in
                if let old = captured.value { return old.commit(groups: ["Admin"]) }
                captured.set(attempt)
                return .ignored
            }
        )
        let stack = stack(.required(module))
        _ = try await stack.login("root")
        let report = try await stack.login("ann")
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .internalError))
    }

    @Test func `a success from the attempt of another module counts as a failure`() async throws {
        let captured = CapturedValue<LoginAttempt>()
        let first = ScriptedModule(
            .run { attempt in
                captured.set(attempt)
                return attempt.commit()
            }
        )
        let second = ScriptedModule(.run { _ in captured.value?.commit(groups: ["Admin"]) ?? .ignored })
        let report = try await stack(.optional(first), .required(second)).login()
        #expect(report.refusal == .module(index: 1, phase: .login, failure: .internalError))
    }

    @Test func `a success that a module does not return does not count`() async throws {
        let module = ScriptedModule(
            .run { attempt in
                _ = attempt.commit(groups: ["Admin"])
                return .failed(.wrongCredentials)
            }
        )
        let report = try await stack(.required(module)).login()
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .wrongCredentials))
    }
}

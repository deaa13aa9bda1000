// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmTesting
import Testing

@testable import RealmKit

struct LockedWalkTests {
    private func login(_ stack: LoginStack, mayGrant: Bool) async throws -> LoginReport {
        await stack.login(try request(), asking: PreparedConversation.silent, mayGrant: mayGrant)
    }

    @Test func `a walk that may not grant is aborted where it would be committed`() async throws {
        let module = FaultInjector(.accept(groups: ["Staff"]))
        let report = try await login(stack(.required(module), .required(Fixed(.success))), mayGrant: false)
        #expect(report.refusal == .locked)
        #expect(report.refusal?.failure == .locked)
        #expect(report.identity == nil)
        guard case .refused(.locked) = report.decision else {
            Issue.record("it was accepted")
            return
        }
        #expect(report.calls == ["0.login=success", "1.login=success", "0.abort=success", "1.abort=success"])
        #expect(module.phases == [.login, .abort])
    }

    @Test(arguments: 0..<200)
    func `locked or not, the same modules are called in the login, and nothing is committed`(seed: UInt64) async throws
    {
        var random = Random(seed: seed)
        let outcomes = [Outcome.success, .success, .ignored, .failure(.wrongCredentials), .failure(.unavailable)]
        let entries = (0..<random.below(5)).map { index in
            let outcome = random.pick(outcomes)
            let isImmediate = random.below(2) == 0
            let module: any LoginModule = isImmediate ? Fixed(outcome, index: index) : FaultInjector(behavior(outcome))
            return LoginStack.Entry(module, random.pick(ControlFlag.allCases))
        }
        let stack = LoginStack(name: "lane", entries, clock: ManualClock())
        let open = try await login(stack, mayGrant: true)
        let locked = try await login(stack, mayGrant: false)
        #expect(locked.calls.filter { $0.contains("login") } == open.calls.filter { $0.contains("login") })
        #expect(!locked.steps.contains { $0.phase == .commit })
        let reached = locked.steps.filter { $0.phase == .login }.map(\.index)
        #expect(locked.steps.filter { $0.phase == .abort }.map(\.index) == reached)
        // Whatever was presented: the answer to a guess at a locked account must not tell whether it was right.
        #expect(locked.refusal == .locked)
        #expect(locked.identity == nil)
    }

    private func behavior(_ outcome: Outcome) -> FaultInjector.Behavior {
        if let failure = outcome.failure { return .refuse(failure) }
        return outcome == .success ? .accept(groups: ["Staff"]) : .ignore
    }

    @Test func `a cancelled walk that may not grant is refused as a cancelled one`() async throws {
        let module = FaultInjector(.hold())
        let stack = stack(.required(module))
        let task = Task { try await login(stack, mayGrant: false) }
        await module.untilCalled()
        task.cancel()
        #expect(try await task.value.refusal?.failure == .unavailable)
    }
}

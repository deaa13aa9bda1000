// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Testing

struct ForgeryTests {
    @Test(arguments: ControlFlag.allCases)
    func `a success kept from an earlier login is a failure`(flag: ControlFlag) async throws {
        let stack = stack(LoginStack.Entry(FaultInjector(.forge), flag))
        let first = try await stack.login()
        #expect(first.identity == nil)
        let second = try await stack.login()
        #expect(second.identity == nil)
        #expect(second.steps.first?.outcome == .failure(.internalError))
    }

    @Test func `a success of another module in the same login is a failure`() async throws {
        let kept = Kept<Verdict>()
        let honest = FaultInjector(
            .run { attempt in
                let verdict = attempt.commit(groups: ["User"])
                kept.keep(verdict)
                return verdict
            }
        )
        let thief = FaultInjector(.run { _ in kept.value ?? .ignored })
        let report = try await stack(.optional(honest), .required(thief)).login()
        #expect(report.refusal == .module(index: 1, phase: .login, failure: .internalError))
    }

    @Test func `a success committed through an attempt kept from an earlier login is a failure`() async throws {
        let kept = Kept<LoginAttempt>()
        let module = FaultInjector(
            .run { attempt in
                if let old = kept.value { return old.commit(groups: ["Admin"]) }
                kept.keep(attempt)
                return .ignored
            }
        )
        let stack = stack(.required(module))
        _ = try await stack.login("root")
        let report = try await stack.login("ann")
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .internalError))
    }

    @Test func `a success committed through another module's attempt is a failure`() async throws {
        let kept = Kept<LoginAttempt>()
        let first = FaultInjector(
            .run { attempt in
                kept.keep(attempt)
                return attempt.commit()
            }
        )
        let second = FaultInjector(.run { _ in kept.value?.commit(groups: ["Admin"]) ?? .ignored })
        let report = try await stack(.optional(first), .required(second)).login()
        #expect(report.refusal == .module(index: 1, phase: .login, failure: .internalError))
    }

    @Test func `a success that a module does not return does not count`() async throws {
        let module = FaultInjector(
            .run { attempt in
                _ = attempt.commit(groups: ["Admin"])
                return .failed(.wrongCredentials)
            }
        )
        let report = try await stack(.required(module)).login()
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .wrongCredentials))
    }
}

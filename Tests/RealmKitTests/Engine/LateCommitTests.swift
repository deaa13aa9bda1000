// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

struct LateCommitTests {
    @Test func `a commit after the deadline never counts`() async throws {
        let clock = ManualClock()
        let slow = ScriptedModule(.hold(groups: ["Admin"]))
        let stack = stack(
            LoginStack.Entry(slow, .optional, deadline: .seconds(5)),
            .required(ScriptedModule(.accept(groups: ["User"]))),
            clock: clock
        )
        let login = Task { try await stack.login() }
        await slow.untilCalled()
        await clock.untilAsleep()
        clock.advance(by: .seconds(5))
        let report = try await login.value
        #expect(report.groups == ["User"])
        slow.release()
        for _ in 0..<1000 { await Task.yield() }
        #expect(report.groups == ["User"])
    }

    @Test func `a late answer removes no success of another module`() async throws {
        let clock = ManualClock()
        let late = CapturedValue<Bool>()
        let bob = try Username("bob")
        // The module commits twice in time, and returns the first success after its deadline.
        let slow = ScriptedModule(
            .run { attempt in
                let first = attempt.commit(groups: ["Admin"])
                _ = attempt.commit(groups: ["Staff"])
                while late.value == nil { await Task.yield() }
                return first
            }
        )
        let next = ScriptedModule(
            .run { attempt in
                let verdict = attempt.commit(as: bob, groups: ["User"])
                late.set(true)
                for _ in 0..<1000 { await Task.yield() }
                return verdict
            }
        )
        let stack = stack(LoginStack.Entry(slow, .optional, deadline: .seconds(5)), .required(next), clock: clock)
        let login = Task { try await stack.login() }
        await slow.untilCalled()
        await clock.untilAsleep()
        clock.advance(by: .seconds(5))
        let report = try await login.value
        #expect(report.identity?.username == bob)
        #expect(report.groups == ["User"])
    }

    @Test func `a commit after the decision never counts`() async throws {
        let captured = CapturedValue<LoginAttempt>()
        let stack = stack(
            .required(
                ScriptedModule(
                    .run { attempt in
                        captured.set(attempt)
                        return attempt.commit(groups: ["User"])
                    }
                )
            )
        )
        let report = try await stack.login()
        let attempt = try #require(captured.value)
        attempt.add([.group("Admin")])
        _ = attempt.commit(groups: ["Staff"])
        #expect(report.groups == ["User"])
        #expect(report.identity?.isMember(of: "Admin") == false)
    }

    @Test func `principals added after the module has returned never count`() async throws {
        let captured = CapturedValue<LoginAttempt>()
        let first = ScriptedModule(
            .run { attempt in
                captured.set(attempt)
                return attempt.commit(groups: ["User"])
            }
        )
        let second = ScriptedModule(
            .run { attempt in
                captured.value?.add([.group("Admin")])
                return attempt.commit(only: [])
            }
        )
        #expect(try await stack(.required(first), .required(second)).login().groups == ["User"])
    }

    @Test func `principals added after an immediate module has returned never count`() async throws {
        let captured = CapturedValue<LoginAttempt>()
        let second = ScriptedModule(
            .run { attempt in
                captured.value?.add([.group("Admin")])
                return attempt.commit(only: [])
            }
        )
        #expect(
            try await stack(.required(AttemptCapturingModule(captured)), .required(second)).login().groups == ["User"]
        )
    }

    @Test func `groups of a module that returns ignored do not count, principals added in the commit phase count`()
        async throws
    {
        let confused = ScriptedModule(
            .run { attempt in
                _ = attempt.commit(groups: ["Admin"])
                return .ignored
            }
        )
        let late = ScriptedModule(
            .accept(groups: ["User"]),
            commit: .run { attempt in
                attempt.add([.role("reader")])
                return .done
            }
        )
        let report = try await stack(.optional(confused), .required(late)).login()
        #expect(report.identity?.subject.principals == [.user("ann"), .group("User"), .role("reader")])
    }

    @Test func `principals added in a commit that returns ignored do not count`() async throws {
        let shy = ScriptedModule(
            .accept(groups: ["User"]),
            commit: .run { attempt in
                attempt.add([.group("Admin")])
                return .ignored
            }
        )
        let report = try await stack(.required(ScriptedModule()), .required(shy)).login()
        #expect(report.identity?.subject.principals == [.user("ann")])
    }

    private struct AttemptCapturingModule: ImmediateLoginModule {
        let captured: CapturedValue<LoginAttempt>

        init(_ captured: CapturedValue<LoginAttempt>) { self.captured = captured }
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
            throw BadModule("can be created only in code")
        }

        func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
            captured.set(attempt)
            return attempt.commit(groups: ["User"])
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Glibc
import RealmKit
import RealmTesting
import Synchronization
import Testing

/// A module that passes its calls to another one.
private struct NonblockingModule: NonblockingLoginModule {
    let module: ScriptedModule
    let thread = CapturedValue<UInt>()

    init(_ module: ScriptedModule) { self.module = module }
    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { throw BadModule("can be created only in code") }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        thread.set(UInt(pthread_self()))
        return try await module.authenticateUser(attempt)
    }
}

struct NonblockingModuleTests {
    @Test func `a module that never blocks is called on the thread of the login`() async throws {
        let module = NonblockingModule(ScriptedModule(.accept(groups: ["User"])))
        let clock = ManualClock()
        let stack = stack(.required(module), clock: clock)
        let login = try request()
        let task = Task {
            let thread = UInt(pthread_self())
            return (thread, await stack.login(login, asking: PreparedConversation.silent))
        }
        let (thread, report) = await task.value
        #expect(report.groups == ["User"])
        #expect(module.thread.value == thread)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a module that never blocks and never returns fails at its deadline`() async throws {
        let held = ScriptedModule(.hold())
        let clock = ManualClock()
        let stack = stack(
            LoginStack.Entry(NonblockingModule(held), .required, deadline: .seconds(5)),
            clock: clock
        )
        let task = Task { try await stack.login() }
        await held.untilCalled()
        await clock.untilAsleep()
        clock.advance(by: .seconds(5))
        let report = try await task.value
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .unavailable))
        #expect(report.steps[0].fault?.log == "the module did not answer within 5.0 seconds")
    }

    @Test func `a success of a module that never blocks counts before its deadline`() async throws {
        let held = ScriptedModule(.hold(groups: ["User"]))
        let clock = ManualClock()
        let stack = stack(
            LoginStack.Entry(NonblockingModule(held), .required, deadline: .seconds(5)),
            clock: clock
        )
        let task = Task { try await stack.login() }
        await held.untilCalled()
        await clock.untilAsleep()
        clock.advance(by: .seconds(5) - .nanoseconds(1))
        held.release()
        #expect(try await task.value.groups == ["User"])
    }

    @Test func `a cancelled login does not wait for a module that never blocks`() async throws {
        let held = ScriptedModule(.hold())
        let stack = stack(.required(NonblockingModule(held)))
        let task = Task { try await stack.login() }
        await held.untilCalled()
        task.cancel()
        let report = try await task.value
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .unavailable))
    }
}

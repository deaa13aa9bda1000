// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Synchronization
import Testing

@testable import RealmKit

struct DeadlineTests {
    /// Runs a login whose first module never returns.
    private func login(
        _ flag: ControlFlag,
        _ deadline: Duration,
        advance: Duration
    ) async throws -> (LoginReport, ScriptedModule, ScriptedModule) {
        let clock = ManualClock()
        let silent = ScriptedModule(.hold())
        let next = ScriptedModule(.accept(groups: ["User"]))
        let stack = stack(LoginStack.Entry(silent, flag, deadline: deadline), .required(next), clock: clock)
        let task = Task { try await stack.login() }
        await silent.untilCalled()
        await clock.untilAsleep()
        clock.advance(by: advance)
        return (try await task.value, silent, next)
    }

    @Test func `a required module that never returns fails, and the next module is called`() async throws {
        let (report, _, next) = try await login(.required, .seconds(5), advance: .seconds(5))
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .unavailable))
        #expect(report.isUnavailable && report.isOverloaded && !report.mayBeOutage)
        #expect(next.phases.contains(.login))
        #expect(report.steps[0].fault?.log == "the module did not answer within 5.0 seconds")
        #expect(report.steps[0].duration == .seconds(5))
    }

    @Test func `a requisite module that never returns fails, and no further module is called`() async throws {
        let (report, _, next) = try await login(.requisite, .milliseconds(1), advance: .milliseconds(1))
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .unavailable))
        #expect(next.phases == [])
    }

    @Test(arguments: [ControlFlag.sufficient, .optional])
    func `an optional or sufficient module that never returns is skipped`(flag: ControlFlag) async throws {
        let (report, silent, _) = try await login(flag, .seconds(5), advance: .seconds(6))
        #expect(report.groups == ["User"])
        #expect(silent.phases == [.login, .commit])
    }

    @Test func `a success just before the deadline counts`() async throws {
        let clock = ManualClock()
        let slow = ScriptedModule(.hold(groups: ["User"]))
        let stack = stack(LoginStack.Entry(slow, .required, deadline: .seconds(5)), clock: clock)
        let task = Task { try await stack.login() }
        await slow.untilCalled()
        await clock.untilAsleep()
        clock.advance(by: .seconds(5) - .nanoseconds(1))
        slow.release()
        #expect(try await task.value.groups == ["User"])
    }

    @Test func `a very long deadline does not overflow`() async throws {
        // 120,000 days in nanoseconds do not fit into an Int64.
        let (report, _, _) = try await login(.required, .seconds(86_400 * 120_000), advance: .seconds(10_400_000_000))
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .unavailable))
    }

    @Test func `the time of a conversation does not count towards the deadline`() async throws {
        let clock = ManualClock()
        let conversation = RecordingConversation([.held(PreparedConversation(password: Secret(utf8: "lilac")))])
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                _ = try await attempt.password()
                return attempt.commit(groups: ["User"])
            }
        )
        let stack = stack(LoginStack.Entry(module, .required, deadline: .seconds(5)), clock: clock)
        let login = try request()
        let task = Task { await stack.login(login, asking: conversation) }
        await conversation.untilCalled()
        for _ in 0..<20 {
            await clock.untilAsleep()
            clock.advance(by: .seconds(60))
        }
        await clock.untilAsleep()
        conversation.release()
        let report = await task.value
        #expect(report.groups == ["User"])
        #expect(report.steps[0].duration >= .seconds(60 * 20))
    }

    @Test func `a module that never returns after its conversation fails at its deadline`() async throws {
        let clock = ManualClock()
        let conversation = RecordingConversation([.held(PreparedConversation(password: Secret(utf8: "lilac")))])
        let endless = RecordingConversation([.held(.silent)])
        let hasPassword = CapturedValue<Bool>()
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                _ = try await attempt.password()
                hasPassword.set(true)
                _ = try await endless.answer([])
                return attempt.commit()
            }
        )
        let stack = stack(LoginStack.Entry(module, .required, deadline: .seconds(5)), clock: clock)
        let login = try request()
        let task = Task { () async throws in await stack.login(login, asking: conversation) }
        await conversation.untilCalled()
        await clock.untilAsleep()
        clock.advance(by: .seconds(3))
        conversation.release()
        await endless.untilCalled()
        #expect(hasPassword.value == true)
        let report = try await value(of: task, moving: clock, by: .seconds(1))
        #expect(report.refusal?.failure == .unavailable)
    }

    @Test func `a login fails if a commit never returns, and ends even if an abort never returns`()
        async throws
    {
        let clock = ManualClock()
        let module = ScriptedModule(.accept(), commit: .hold, abort: .hold)
        let stack = stack(LoginStack.Entry(module, .required, deadline: .seconds(5)), clock: clock)
        let task = Task { try await stack.login() }
        let report = try await value(of: task, moving: clock, by: .seconds(1))
        #expect(report.refusal == .module(index: 0, phase: .commit, failure: .unavailable))
        #expect(module.phases == [.login, .commit, .abort])
    }

    @Test func `the wait for concurrent questions lasts from the first question to the last answer`()
        async throws
    {
        let clock = ManualClock()
        let record = LoginRecord(try request(), conversation: PreparedConversation.silent, stack: stack(clock: clock))
        record.beginConversation(round: 0)
        clock.advance(by: .seconds(1))
        record.beginConversation(round: 0)
        clock.advance(by: .seconds(1))
        record.endConversation(round: 0)
        clock.advance(by: .seconds(1))
        #expect(record.conversationTime(round: 0, now: clock.now).total == 3_000_000_000)
        #expect(record.conversationTime(round: 0, now: clock.now).since != nil)
        record.endConversation(round: 0)
        clock.advance(by: .seconds(1))
        #expect(record.conversationTime(round: 0, now: clock.now).total == 3_000_000_000)
        #expect(record.conversationTime(round: 0, now: clock.now).since == nil)
    }

    /// The timer and the module read the clock at almost the same time, and store their times in the opposite order.
    @Test func `a question that begins while the timer fires does not make the time overflow`() async throws {
        let clock = HookedClock()
        let record = LoginRecord(try request(), conversation: PreparedConversation.silent, stack: stack(clock: clock))
        let seen = clock.now
        record.beginConversation(round: 0)
        #expect(record.conversationTime(round: 0, now: seen).total == 0)
        record.endConversation(round: 0)
        record.beginConversation(round: 1)
        clock.onNextRead {
            record.endConversation(round: 1)
            record.beginConversation(round: 1)
        }
        record.endConversation(round: 1)
        #expect(record.conversationTime(round: 1, now: clock.now).total <= 10)
    }

    /// A clock with a hook that runs between reading the clock and using the time.
    private final class HookedClock: LoginClock {
        private let hook = Mutex<(@Sendable () -> Void)?>(nil)
        private let ticks = Mutex<UInt64>(0)

        var now: UInt64 {
            let seen = ticks.withLock { ticks in
                ticks += 1
                return ticks
            }
            let body = hook.withLock { hook in
                defer { hook = nil }
                return hook
            }
            body?()
            return seen
        }

        func onNextRead(_ body: @escaping @Sendable () -> Void) { hook.withLock { $0 = body } }

        func sleep(until deadline: UInt64) async throws(CancellationError) {}
    }
}

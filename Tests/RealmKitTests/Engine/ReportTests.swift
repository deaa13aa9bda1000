// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Synchronization
import Testing

struct ReportTests {
    @Test func `a report lists every call, its result and the state of the stack`() async throws {
        let clock = ManualClock()
        let slow = ScriptedModule(
            .run { attempt in
                clock.advance(by: .milliseconds(7))
                return .failed(.unknownUser)
            }
        )
        let broken = ScriptedModule(commit: .fail(.internalError("bang")))
        let stack = stack(
            LoginStack.Entry(slow, .optional, name: "directory"),
            LoginStack.Entry(ScriptedModule(.accept(groups: ["User"])), .required, name: "file"),
            LoginStack.Entry(broken, ActionTable(success: .ok, failure: .ignore), control: "[success=ok]", name: "log"),
            clock: clock
        )
        let report = try await stack.login()
        let lines = report.steps.map { step in
            "\(step.index) \(step.module) \(step.control) \(step.phase.name) \(step.outcome) \(step.action) \(step.state)"
        }
        #expect(
            lines == [
                "0 directory optional login unknown-user ignore undecided",
                "1 file required login success ok granting",
                "2 log [success=ok] login success ok granting",
                "0 directory optional commit ignored ignore undecided",
                "1 file required commit success ok granting",
                "2 log [success=ok] commit internal-error ignore granting",
            ]
        )
        #expect(report.steps.map { $0.fault?.log } == [nil, nil, nil, nil, nil, "bang"])
        #expect(report.steps[0].duration == .milliseconds(7))
        #expect(report.duration == .milliseconds(7))
        #expect(
            [report.realm, report.username.text, report.service, report.peer] == ["town", "ann", "tests", "192.0.2.7"]
        )
        #expect(report.identity?.realm == "town")
        #expect(report.identity?.service == "tests")
        #expect(report.identity?.username.text == "ann")
    }

    @Test func `the steps of the abort phase have the state refusing and the action ignore`() async throws {
        let report = try await stack(.required(ScriptedModule(.refuse(.disabled)))).login()
        let abort = try #require(report.steps.last)
        #expect(abort.call == "0.abort=ignored")
        #expect(abort.state == .refusing)
        #expect(abort.action == .ignore)
        #expect(report.identity == nil)
    }

    @Test func `a report of a stack with many modules lists all modules`() async throws {
        let entries = (0..<300).map { LoginStack.Entry(FixedVerdictModule(.success, index: $0), .required) }
        let report = try #require(LoginStack(name: "long", entries, clock: ManualClock()).loginNow(try request()))
        #expect(report.steps.count == 600)
        #expect(report.groups == (0..<300).map { "g\($0)" })
        #expect(report.steps.map(\.index) == Array(0..<300) + Array(0..<300))
    }

    @Test func `the identity has the first user name that a module commits`() async throws {
        let renamed = try Username("Ann Lee")
        let check = ScriptedModule(.run { $0.commit(only: [.role("checked")]) })
        let first = ScriptedModule(.run { $0.commit(as: renamed, groups: ["a", "b"], others: [.role("r")]) })
        let second = ScriptedModule(.accept(groups: ["b", "c"]))
        let report = try await stack(.required(check), .required(first), .required(second)).login()
        let identity = try #require(report.identity)
        #expect(identity.username == renamed)
        #expect(
            identity.subject.principals == [
                .role("checked"), .user("Ann Lee"), .group("a"), .group("b"), .role("r"), .user("ann"), .group("c"),
            ]
        )
        #expect(identity.groups == ["a", "b", "c"])
        #expect(["a", "b", "c", "A", "d", "r"].map(identity.isMember) == [true, true, true, false, false, false])
    }

    @Test func `if no module commits a user name, the identity has the name in the request`() async throws {
        let report = try await stack(.required(ScriptedModule(.run { $0.commit(only: []) }))).login()
        #expect(report.identity?.username.text == "ann")
        #expect(report.identity?.subject.principals == [])
    }

    @Test func `loginNow returns nil for a stack with a module that may wait`() async throws {
        #expect(
            stack(.required(FixedVerdictModule(.success)), .optional(ScriptedModule())).loginNow(try request()) == nil
        )
        #expect(stack(.required(FixedVerdictModule(.success))).isImmediate)
    }

    @Test(arguments: [Outcome.success, .ignored, .failure(.unknownUser)])
    func `without durations the clock is not read, and the rest of the report is the same`(outcome: Outcome) throws {
        let clock = CountingClock()
        let stack = stack(
            .optional(FixedVerdictModule(.success)),
            .required(FixedVerdictModule(outcome, index: 1)),
            clock: clock
        )
        let report = try #require(stack.loginNow(try request(), measuringDurations: false))
        #expect(clock.count == 0)
        #expect(report.steps.allSatisfy { $0.duration == .zero })
        let measured = try #require(stack.loginNow(try request()))
        #expect(clock.count == 3)
        #expect(measured.steps.map(\.duration) == [.nanoseconds(1), .nanoseconds(1), .zero, .zero])
        #expect(report.calls == measured.calls)
        #expect(report.refusal == measured.refusal)
        #expect(report.groups == measured.groups)
    }

    @Test func `the deadline of a module is enforced in a login without durations`() async throws {
        let clock = ManualClock()
        let silent = ScriptedModule(.hold())
        let stack = stack(LoginStack.Entry(silent, .required, deadline: .seconds(5)), clock: clock)
        let request = try request()
        let task = Task {
            await stack.login(request, asking: PreparedConversation.silent, measuringDurations: false)
        }
        await silent.untilCalled()
        await clock.untilAsleep()
        clock.advance(by: .seconds(5))
        let report = await task.value
        #expect(report.steps[0].fault?.log == "the module did not answer within 5.0 seconds")
        #expect(report.duration == .zero)
        #expect(report.isUnavailable)
    }
}

/// A clock that advances by a nanosecond at each reading, and counts the readings.
private final class CountingClock: LoginClock {
    private let readings = Atomic<UInt64>(0)

    var count: UInt64 { readings.load(ordering: .relaxed) }

    var now: UInt64 { readings.add(1, ordering: .relaxed).newValue }

    func sleep(until deadline: UInt64) async throws(CancellationError) { throw CancellationError() }
}

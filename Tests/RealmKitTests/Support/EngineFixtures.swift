// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Synchronization
import TestTools

func request(_ name: String = "ann", realm: String = "town") throws -> LoginRequest {
    LoginRequest(realm: realm, username: try Username(name), service: "tests", peer: "192.0.2.7")
}

func stack(_ entries: LoginStack.Entry..., clock: any LoginClock = ManualClock()) -> LoginStack {
    LoginStack(name: "lane", entries, clock: clock)
}

extension LoginStack.Entry {
    static func required(_ module: any LoginModule) -> Self { Self(module, .required) }
    static func requisite(_ module: any LoginModule) -> Self { Self(module, .requisite) }
    static func sufficient(_ module: any LoginModule) -> Self { Self(module, .sufficient) }
    static func optional(_ module: any LoginModule) -> Self { Self(module, .optional) }
}

extension LoginStack {
    func login(_ name: String = "ann") async throws -> LoginReport {
        await login(try request(name), asking: PreparedConversation.silent)
    }
}

extension LoginReport {
    /// The calls of the report, such as `0.login=success`.
    var calls: [String] { steps.map(\.call) }

    var groups: [String]? { identity?.groups }
}

extension LoginStep {
    var call: String { "\(index).\(phase.name)=\(outcome)" }
}

/// A log of numbers, such as the indices of the called modules.
final class CallLog: Sendable {
    private let noted = Mutex<[Int]>([])

    var all: [Int] { noted.withLock { $0 } }

    func note(_ index: Int) { noted.withLock { $0.append(index) } }
}

/// An immediate module with a fixed verdict.
struct FixedVerdictModule: ImmediateLoginModule {
    let index: Int
    let outcome: Outcome
    let calls: CallLog

    init(_ outcome: Outcome, index: Int = 0, calls: CallLog = CallLog()) {
        self.index = index
        self.outcome = outcome
        self.calls = calls
    }

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { throw BadModule("can be created only in code") }

    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        calls.note(index)
        if let failure = outcome.failure { return .failed(failure) }
        return outcome == .success ? attempt.commit(groups: ["g\(index)"]) : .ignored
    }
}

/// Advances a clock until a task has ended, and returns the value of the task.
func value<Value: Sendable>(
    of task: Task<Value, any Error>,
    moving clock: ManualClock,
    by step: Duration
) async throws -> Value {
    let end = CapturedValue<Bool>()
    let value = Task {
        defer { end.set(true) }
        return try await task.value
    }
    try await Waiting.until {
        clock.advance(by: step)
        return end.value != nil
    }
    return try await value.value
}

/// A value that a closure sets and a test reads.
final class CapturedValue<Value: Sendable>: Sendable {
    private let captured = Mutex<Value?>(nil)

    var value: Value? { captured.withLock { $0 } }

    func set(_ value: Value) { captured.withLock { $0 = value } }
}

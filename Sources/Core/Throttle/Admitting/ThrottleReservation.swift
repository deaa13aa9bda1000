// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import Synchronization

/// A reserved attempt, settled exactly once: by ``settle(_:)``, or without a result when it is deinitialized.
final class ThrottleReservation: LoginReservation {
    private let throttle: FailureThrottle
    private let attempt: Attempt
    private let username: Username
    private let admission: Admission
    /// The beginning of the login, from which the delay of the answer is measured.
    private let begin: UInt64
    private let progress = Mutex(Progress())

    private struct Progress {
        var isSettled = false
        /// The failures that were counted while the login waited for its user.
        var counted: [ThrottleKey: FailureTable.CountedFailure] = [:]
    }

    init(_ throttle: FailureThrottle, attempt: Attempt, username: Username, admission: Admission, begin: UInt64) {
        self.throttle = throttle
        self.attempt = attempt
        self.username = username
        self.admission = admission
        self.begin = begin
    }

    func mayGrant(_ account: Account) -> Bool {
        // An account without a reservation, passed by mistake, is not granted: a lock cannot be bypassed.
        let key = ThrottleKey.account(account)
        return admission.denied[key] == nil && admission.reserved.contains(key)
    }

    func waitsForUser() {
        // The failures are recorded before the attempt can be settled, which may take them back.
        let effects: ThrottleState.Settlement? = progress.withLock { progress in
            guard !progress.isSettled, progress.counted.isEmpty else { return nil }
            let (counted, effects) = throttle.countOpen(attempt, reserved: admission.reserved)
            progress.counted = counted
            return effects
        }
        // The effects call other code, which must not run while the mutex is held.
        if let effects { throttle.apply(effects, of: attempt, by: username) }
    }

    func settle(_ attempts: [RealmAttempt]) async {
        let isAccepted = attempts.contains { $0.report.refusal == nil }
        var results: [(key: ThrottleKey, result: AttemptResult)] = []
        var failures = 0
        for part in attempts {
            let key = ThrottleKey.account(part.account)
            if let denied = admission.denied[key] {
                failures = max(failures, denied)
                // A guess at a locked account counts for its source only.
                if !isAccepted { results.append((key, part.report.result)) }
            } else {
                results.append((key, isAccepted ? Self.resultOfAcceptedLogin(part) : part.report.result))
            }
        }
        failures = max(failures, settleOnce(results))
        guard !isAccepted else { return }
        // An outage is not a failure. But its answer is delayed like a third failure, because 1,000 connections that retry
        // without a delay would keep a processor busy; at a locked account too, as the delay would reveal the lock.
        let outages = attempts.count { $0.report.outage != nil }
        if outages == attempts.count, outages > 0 { failures = 0 }
        await throttle.delay(failures: outages > 0 ? max(failures, Self.failuresOfOutage) : failures, since: begin)
    }

    /// The number of failures from which the delay after an outage is computed.
    private static let failuresOfOutage = 3

    /// Returns the result for an account of a login that its realm or a later one has accepted.
    private static func resultOfAcceptedLogin(_ part: RealmAttempt) -> AttemptResult {
        switch part.report.result {
        case .success: .success
        case .failure: part.guess.map(AttemptResult.acceptedElsewhere) ?? .notCounted
        case .acceptedElsewhere, .notCounted: .notCounted
        }
    }

    /// Settles the attempt, unless it is settled already, and returns the number of failures including it; 0 if it is none.
    private func settleOnce(_ results: [(key: ThrottleKey, result: AttemptResult)]) -> Int {
        let counted: [ThrottleKey: FailureTable.CountedFailure]? = progress.withLock { progress in
            guard !progress.isSettled else { return nil }
            progress.isSettled = true
            return progress.counted
        }
        guard let counted, !admission.reserved.isEmpty else { return 0 }
        return throttle.settle(attempt, reserved: admission.reserved, counted: counted, by: username, results: results)
    }

    deinit { _ = settleOnce([]) }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit
internal import Synchronization

/// A reserved attempt.
///
/// It is settled exactly once: a reservation that is released without a result returns its places.
final class ThrottleReservation: LoginReservation {
    private let throttle: FailureThrottle
    private let attempt: Attempt
    private let username: Username
    private let admission: Admission
    /// The moment from which a delay is counted.
    private let begin: UInt64
    private let isSettled = Atomic(false)

    init(
        _ throttle: FailureThrottle,
        attempt: Attempt,
        username: Username,
        admission: Admission,
        begin: UInt64
    ) {
        self.throttle = throttle
        self.attempt = attempt
        self.username = username
        self.admission = admission
        self.begin = begin
    }

    func mayGrant(_ account: Account) -> Bool {
        // An account that was never reserved must not succeed: a caller's mistake must not bypass a lock.
        let key = ThrottleKey.account(account)
        return admission.closed[key] == nil && admission.reserved.contains(key)
    }

    func settle(_ attempts: [RealmAttempt]) async {
        let isAccepted = attempts.contains { $0.report.refusal == nil }
        var results: [(key: ThrottleKey, result: AttemptResult)] = []
        var failures = 0
        for part in attempts {
            let key = ThrottleKey.account(part.account)
            if let closed = admission.closed[key] {
                failures = max(failures, closed)
            } else {
                results.append((key, isAccepted ? Self.uncounted(part) : part.report.result))
            }
        }
        failures = max(failures, note(results))
        guard !isAccepted else { return }
        // An outage is not a failure, but immediate retries would make it worse, and the response at a locked account
        // must be the same. So it is delayed like a third failure: 1,000 connections that retry at once would otherwise
        // keep a processor busy.
        let outages = attempts.count { $0.report.outage != nil }
        if outages == attempts.count, outages > 0 { failures = 0 }
        await throttle.delay(failures: outages > 0 ? max(failures, Self.outageLike) : failures, since: begin)
    }

    private static let outageLike = 3

    /// The result of an accepted login for the account of one of its realms.
    private static func uncounted(_ part: RealmAttempt) -> AttemptResult {
        switch part.report.result {
        case .success: .success
        case .failure: part.guess.map(AttemptResult.uncounted) ?? .neither
        case .uncounted, .neither: .neither
        }
    }

    /// Settles with results.
    ///
    /// - Returns: The number of failures including this attempt; 0 if it is not a failure.
    private func note(_ results: [(key: ThrottleKey, result: AttemptResult)]) -> Int {
        guard !isSettled.exchange(true, ordering: .acquiringAndReleasing), !admission.reserved.isEmpty else { return 0 }
        return throttle.settle(attempt, reserved: admission.reserved, by: username, results: results)
    }

    deinit { _ = note([]) }
}

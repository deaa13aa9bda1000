// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit
internal import Synchronization

/// A reserved attempt.
///
/// It is settled once, whatever happens: a ticket that is dropped without a report gives its place back.
final class Ticket: LoginReservation {
    private let throttle: FailureThrottle
    private let attempt: Attempt
    private let username: Username
    private let admission: Admission
    /// From when on a delay is counted.
    private let begin: UInt64
    private let isSettled = Atomic(false)

    init(
        _ throttle: FailureThrottle,
        _ attempt: Attempt,
        _ username: Username,
        _ admission: Admission,
        begin: UInt64
    ) {
        self.throttle = throttle
        self.attempt = attempt
        self.username = username
        self.admission = admission
        self.begin = begin
    }

    var mayGrant: Bool {
        switch admission {
        case .open: true
        case .closed: false
        }
    }

    func settle(_ report: LoginReport) async {
        let failures = note(report.result)
        // Nobody has failed, but who asks again at once would only make it worse; the same for who is locked. Like a third
        // failure: 1,000 connections that ask again as soon as they are refused would else keep a processor busy.
        let isUnavailable = report.refusal?.failure == .unavailable
        await throttle.delay(failures: isUnavailable ? Self.unavailableLike : failures, since: begin)
    }

    private static let unavailableLike = 3

    /// Settles with a result.
    ///
    /// - Returns: Like which failure the answer is to be delayed; 0 for not at all.
    private func note(_ result: AttemptResult) -> Int {
        switch admission {
        case .closed(let failures): return failures
        case .open:
            guard !isSettled.exchange(true, ordering: .acquiringAndReleasing) else { return 0 }
            return throttle.settle(attempt, username, result)
        }
    }

    deinit { _ = note(.neither) }
}

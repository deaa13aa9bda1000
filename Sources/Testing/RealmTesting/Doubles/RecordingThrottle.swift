// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A throttle that locks no account and keeps every attempt for a test.
///
/// It may be used from any thread.
public final class RecordingThrottle: LoginThrottle {
    private struct Reservation: LoginReservation {
        let journal: Journal<RealmAttempt>

        func mayGrant(_ account: Account) -> Bool { true }

        func settle(_ attempts: [RealmAttempt]) async {
            for attempt in attempts { journal.add(attempt) }
        }
    }

    private let journal = Journal<RealmAttempt>()

    /// Creates a throttle without attempts.
    public init() {}

    /// The settled attempts so far, in order.
    public var attempts: [RealmAttempt] { journal.entries }

    /// The attempts so far that a throttle counts as failed guesses.
    ///
    /// A refused login does not count if an outage excludes every success, or if no secret was presented and the login
    /// was refused as locked, as unavailable, as an internal error or for a missing credential.
    public var countedFailures: [RealmAttempt] {
        attempts.filter { attempt in
            guard let refusal = attempt.report.refusal else { return false }
            if let outage = attempt.report.outage, outage.excludesSuccess { return false }
            switch refusal.failure {
            case .wrongCredentials, .unknownUser, .unusableCredential, .disabled, .accountExpired, .credentialExpired,
                .permissionDenied:
                return true
            case .locked, .unavailable, .overloaded, .internalError, .missingCredential:
                return attempt.report.presentedSecret
            }
        }
    }

    /// Reserves an attempt; it may always be granted.
    public func reserve(
        _ accounts: [Account],
        by username: Username,
        from peer: String?
    ) async -> any LoginReservation {
        Reservation(journal: journal)
    }
}

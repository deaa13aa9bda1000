// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// A login attempt: the accounts and the source whose failures it may add to.
struct Attempt: Sendable {
    /// The accounts without duplicates: the account of the user name in each realm that may be tried.
    let accounts: [ThrottleKey]
    /// The source; nil if failures are not counted for it.
    let source: ClientNetwork?
    let sourceKey: ThrottleKey?

    init(_ accounts: [Account], from source: ClientNetwork?) {
        var keys: [ThrottleKey] = []
        for account in accounts where !keys.contains(.account(account)) { keys.append(.account(account)) }
        self.accounts = keys
        self.source = source
        sourceKey = source.map { ThrottleKey.source($0) }
    }
}

/// The decision on an attempt.
struct Admission: Sendable {
    /// The accounts and the source at which the attempt has a reservation; no account if none may succeed.
    ///
    /// Until the attempt is settled, it counts as a failure of each account and of the source.
    let reserved: [ThrottleKey]
    /// The accounts at which the attempt must not succeed and is not counted.
    ///
    /// Each value is the number of failures from which the delay of the refusal is computed.
    let denied: [ThrottleKey: Int]
}

/// An attempt that waits until another attempt is settled.
struct WaitingAttempt: Sendable {
    let attempt: Attempt
    let continuation: CheckedContinuation<Admission, Never>
    /// The account or source at which the attempt waits.
    ///
    /// Its failures and running attempts have reached the limit.
    var key: ThrottleKey
}

/// The end of an attempt's wait.
///
/// The attempt is resumed after the mutex of the throttle is released.
struct EndedWait: Sendable {
    let continuation: CheckedContinuation<Admission, Never>
    let admission: Admission

    func resume() { continuation.resume(returning: admission) }
}

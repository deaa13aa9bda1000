// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// A login attempt: its accounts and its source.
struct Attempt: Sendable {
    /// The accounts, one for each realm that may be tried, each once.
    let accounts: [ThrottleKey]
    /// The source; nil where it is not counted.
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
    /// The keys on which it counts as a failure until it is settled: accounts, and the source if there is one; none if no
    /// account may succeed.
    let reserved: [ThrottleKey]
    /// The accounts at which the attempt must not succeed and is not counted, with the number of failures that
    /// determines the delay of the refusal.
    let closed: [ThrottleKey: Int]
}

/// An attempt that waits until another one is settled.
struct WaitingAttempt: Sendable {
    let attempt: Attempt
    let continuation: CheckedContinuation<Admission, Never>
    /// The key that is full.
    var key: ThrottleKey
}

/// An attempt whose wait has ended; it is resumed after the lock is released.
struct Woken: Sendable {
    let continuation: CheckedContinuation<Admission, Never>
    let admission: Admission

    func wake() { continuation.resume(returning: admission) }
}

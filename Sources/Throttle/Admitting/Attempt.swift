// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// Who tries to come in, and from where.
struct Attempt: Sendable {
    let account: ThrottleKey
    /// Nil where sources are not counted.
    let source: Source?
    let sourceKey: ThrottleKey?
    /// What it is counted on: the account, and the source if there is one.
    let keys: [ThrottleKey]

    init(_ account: Account, from source: Source?) {
        let account = ThrottleKey.account(account)
        let sourceKey = source.map { ThrottleKey.source($0) }
        self.account = account
        self.source = source
        self.sourceKey = sourceKey
        keys = sourceKey.map { [account, $0] } ?? [account]
    }
}

/// What is said to an attempt.
enum Admission: Sendable {
    /// It may succeed, and counts as a failure until it is settled.
    case open
    /// It may not succeed and does not count; its refusal is delayed like a failure of this number.
    case closed(failures: Int)
}

/// An attempt that waits until another one is settled.
struct WaitingAttempt: Sendable {
    let attempt: Attempt
    let continuation: CheckedContinuation<Admission, Never>
    /// Which of its keys has no room.
    var key: ThrottleKey
}

/// An attempt that waits no more, to be woken when the lock is let go of.
struct Woken: Sendable {
    let continuation: CheckedContinuation<Admission, Never>
    let admission: Admission

    func wake() { continuation.resume(returning: admission) }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// The wrong passwords of accounts in logins that another realm has then accepted; the first of each account is not
/// counted.
///
/// A user of the second of two realms presents their password to the first realm with each login. That is not counted,
/// as it is the same password each time. An attacker with an account in the second realm could present another password
/// with each login, and so guess the password of that name in the first realm. So every password but the first is
/// counted.
///
/// Only accepted logins are recorded, so there are no more accounts than users.
struct UncountedGuesses: Sendable {
    private struct Presented: Sendable {
        /// The oldest first.
        var guesses: [PasswordFingerprint]
        var newest: Int
    }

    /// The most passwords of an account that are kept.
    static let capacityOfAccount = 4

    private let window: Int
    private let capacity: Int
    private var presented: [ThrottleKey: Presented] = [:]

    init(window: Int, capacity: Int) {
        self.window = window
        self.capacity = max(1, capacity)
    }

    var count: Int { presented.count }

    /// Records a password, and returns true if it is not counted: it is the first within the window, or was presented
    /// before.
    mutating func record(_ guess: PasswordFingerprint, of account: ThrottleKey, at now: Int) -> Bool {
        if var known = presented[account], now - known.newest <= window {
            let place = known.guesses.firstIndex(of: guess)
            known.guesses.remove(at: place ?? 0, if: place != nil || known.guesses.count >= Self.capacityOfAccount)
            known.guesses.append(guess)
            known.newest = now
            presented[account] = known
            return place != nil
        }
        if presented.count >= capacity { makeRoom() }
        presented[account] = Presented(guesses: [guess], newest: now)
        return true
    }

    /// Drops the older half, so that the cost is spread over as many logins.
    private mutating func makeRoom() {
        let middle = presented.values.map(\.newest).sorted()[presented.count / 2]
        presented = presented.filter { $0.value.newest > middle }
    }

    mutating func clear(_ account: ThrottleKey) { presented[account] = nil }

    mutating func clearAll() { presented = [:] }
}

extension Array {
    fileprivate mutating func remove(at place: Int, if condition: Bool) {
        if condition { remove(at: place) }
    }
}

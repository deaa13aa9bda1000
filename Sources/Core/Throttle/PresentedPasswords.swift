// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The wrong passwords that each account received in logins that another realm accepted.
///
/// If a rule names two realms, a user of the second one presents the same password to the first one with each login, which
/// is no failure there. But an attacker with an account in the second realm could change its password before each login, and
/// so guess the password of the account of the same name in the first realm. Therefore only the first password in a window
/// is exempt; each different one counts as a failure when it is presented for the first time.
///
/// Passwords are recorded for accepted logins only, so there are at most as many entries as users.
struct PresentedPasswords: Sendable {
    /// The decision whether a wrong password counts as a failure.
    enum Decision {
        case exempt
        case failure
    }

    private struct Entry: Sendable {
        /// The fingerprints of the passwords, the oldest first.
        var fingerprints: [PasswordFingerprint]
        var newest: Int
    }

    static let maximumPerAccount = 4

    private let window: Int
    private let capacity: Int
    private var entries: [ThrottleKey: Entry] = [:]

    init(window: Int, capacity: Int) {
        self.window = window
        self.capacity = max(1, capacity)
    }

    /// Records a password; it is exempt if it is the first within the window, or was recorded before.
    mutating func record(_ fingerprint: PasswordFingerprint, of account: ThrottleKey, at now: Int) -> Decision {
        if var entry = entries[account], now - entry.newest <= window {
            let known = entry.fingerprints.firstIndex(of: fingerprint)
            if let known {
                entry.fingerprints.remove(at: known)
            } else if entry.fingerprints.count >= Self.maximumPerAccount {
                entry.fingerprints.removeFirst()
            }
            entry.fingerprints.append(fingerprint)
            entry.newest = now
            entries[account] = entry
            return known == nil ? .failure : .exempt
        }
        if entries.count >= capacity { removeOlderHalf() }
        entries[account] = Entry(fingerprints: [fingerprint], newest: now)
        return .exempt
    }

    /// Removes the older half of the entries, so that at least capacity/2 logins pass until the next removal.
    private mutating func removeOlderHalf() {
        let middle = entries.values.map(\.newest).sorted()[entries.count / 2]
        entries = entries.filter { $0.value.newest > middle }
    }

    mutating func clear(_ account: ThrottleKey) { entries[account] = nil }

    mutating func clearAll() { entries = [:] }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
internal import RealmKit

/// A user of a file.
struct StoredUser: Sendable {
    let name: Username
    /// Each once, in the file's order.
    var groups: [String]
    /// What is stored in place of a password, without the `!` of a disabled user.
    let stored: String
    /// Whether no `!` stands before it.
    let isEnabled: Bool
    /// What that says; nil if there is no password, or none that can be read.
    let password: StoredPassword?
    /// Whether the name stands on several lines, of which none counts.
    var isAmbiguous = false
    /// The line it stands on first.
    let line: Int

    /// What a password is held against; nil where none is good.
    var usablePassword: StoredPassword? { isEnabled && !isAmbiguous ? password : nil }

    /// Whether there is a hash, and it cannot be read.
    var isBroken: Bool { password == nil && !["", "*", "RESET"].contains(stored) }

    /// What others get to know; nobody can sign in by a name that stands on several lines.
    var record: UserRecord {
        UserRecord(
            name,
            groups: groups,
            isEnabled: isEnabled && !isAmbiguous,
            format: isAmbiguous ? nil : password?.hash.cost.description
        )
    }

    /// Whether somebody who has signed in as one of the two may go on as the other.
    func isSame(as other: StoredUser, rehashedTo rehashed: String?) -> Bool {
        isEnabled == other.isEnabled && isAmbiguous == other.isAmbiguous
            && groups.elementsEqual(other.groups, by: { $0.utf8.elementsEqual($1.utf8) })
            && (stored.utf8.elementsEqual(other.stored.utf8)
                || rehashed.map { $0.utf8.elementsEqual(other.stored.utf8) } ?? false)
    }
}

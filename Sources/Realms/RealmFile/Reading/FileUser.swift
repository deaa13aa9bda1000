// SPDX-License-Identifier: Apache-2.0

internal import Passwords
internal import RealmKit

/// A user in a file of users.
struct FileUser: Sendable {
    let name: Username
    /// The groups without repetitions, in the order of the file.
    var groups: [String]
    /// The attributes, from the attribute file.
    let attributes: [UserAttribute]
    /// The text in the field of the hash, without the `!` of a disabled user.
    let stored: String
    /// True if the user is enabled: there is no `!` before the hash.
    let isEnabled: Bool
    /// The password read from the text; nil if the user has no password, or the text cannot be read.
    let password: StoredPassword?
    /// True if the name occurs on several lines, so that the user cannot sign in.
    var isAmbiguous = false
    /// The first line of the user.
    let line: Int

    /// The password that a login is checked against; nil if the user cannot sign in.
    var usablePassword: StoredPassword? { isEnabled && !isAmbiguous ? password : nil }

    /// True if the user is enabled and has a hash that cannot be read.
    var isBroken: Bool { isEnabled && password == nil && !PasswordFormats.isNoPassword(stored) }

    /// The user's record.
    ///
    /// A user on several lines is disabled.
    var record: UserRecord {
        UserRecord(
            name,
            groups: groups,
            isEnabled: isEnabled && !isAmbiguous,
            format: isAmbiguous ? nil : password?.hash.cost.description,
            attributes: attributes
        )
    }

    /// Returns whether the user's sessions stay valid after a change to another version of the user.
    ///
    /// The name, the state, the groups, the attributes and the password must be the same. A new hash of the same password is
    /// not a difference.
    func isSame(as other: FileUser, rehashedTo rehashed: String?) -> Bool {
        name == other.name && isEnabled == other.isEnabled && attributes == other.attributes
            && isAmbiguous == other.isAmbiguous
            && groups.elementsEqual(other.groups, by: { $0.utf8.elementsEqual($1.utf8) })
            && (stored.utf8.elementsEqual(other.stored.utf8)
                || rehashed.map { $0.utf8.elementsEqual(other.stored.utf8) } ?? false)
    }
}

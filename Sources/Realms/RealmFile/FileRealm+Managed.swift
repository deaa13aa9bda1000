// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import Passwords
package import RealmKit
internal import Synchronization

extension FileRealm: ManagedRealm {
    /// Returns all users in the order of the file.
    package func users() async throws(RealmError) -> [UserRecord] {
        try await files.newest().table.users.map(\.record)
    }

    /// Returns the user with a name, in any case if case is ignored.
    ///
    /// If several lines differ in the case of the name, the record has the spelling that was given if a line has it.
    package func user(_ name: Username) async throws(RealmError) -> UserRecord? {
        let version = try await files.newest()
        guard let user = version.table[name] else { return nil }
        var record = user.record
        // A command that removes one of these lines removes the line with the name that was given.
        if user.isAmbiguous, user.name != name,
            !version.table.format.lines(of: name, in: version.file.bytes).isEmpty
        {
            record.name = name
        }
        return record
    }

    package var ignoresCase: Bool { !files.settings.readOptions.isCaseSensitive }

    /// Returns the users in the order of the file, except users on several lines and users with an unreadable hash.
    package func exportUsers() async throws(RealmError) -> [NewUser] {
        let table = try await files.newest().table
        return table.users.filter { !$0.isAmbiguous && !$0.isBroken }.map { user in
            let hash = user.password.map { table.format == .glassfish ? GlassFishPassword.portable($0.text) : $0.text }
            return NewUser(user.record, hash: hash)
        }
    }

    /// Adds a user at the end of the file, with `RESET` instead of a missing hash, or `*` in an htpasswd file.
    package func add(_ user: UserRecord, hash: String?) async throws(RealmError) {
        try await files.apply(.add(user, hash: hash))
    }

    /// Changes the user's line; a disabled user has a `!` before the hash.
    package func change(_ user: Username, _ changes: UserChanges) async throws(RealmError) {
        try await files.apply(.change(user, changes))
    }

    /// Removes all lines of the user.
    package func remove(_ user: Username) async throws(RealmError) {
        try await files.apply(.remove(user))
    }
}

extension FileRealm: GroupLookupRealm {
    package func existingGroups(_ names: [String]) async throws(RealmError) -> [String] {
        try await users().flatMap(\.groups)
    }
}

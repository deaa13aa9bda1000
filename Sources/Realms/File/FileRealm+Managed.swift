// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
public import RealmKit
internal import Synchronization

extension FileRealm: ManagedRealm {
    /// Returns all users in the order of the file.
    public func users() async throws(RealmError) -> [UserRecord] {
        await files.reload()
        let (table, fault) = files.state.withLock { ($0.version.table, $0.fault) }
        if let fault { throw .unavailable(fault.description) }
        return table.users.map(\.record)
    }

    /// Returns the users in the order of the file, except users on several lines and users with an unreadable hash.
    public func exportUsers() async throws(RealmError) -> [NewUser] {
        await files.reload()
        let (table, fault) = files.state.withLock { ($0.version.table, $0.fault) }
        if let fault { throw .unavailable(fault.description) }
        return table.users.filter { !$0.isAmbiguous && !$0.isBroken }.map { user in
            let hash = user.password.map { table.format == .glassfish ? GlassFishPassword.portable($0.text) : $0.text }
            return NewUser(user.record, hash: hash)
        }
    }

    /// Adds a user at the end of the file.
    ///
    /// A user without a hash gets `RESET` instead of the hash, or `*` in an htpasswd file.
    public func add(_ user: UserRecord, hash: String?) async throws(RealmError) {
        try await files.apply(.add(user, hash: hash))
    }

    /// Changes the user's line.
    ///
    /// A disabled user has a `!` before the hash.
    public func change(_ user: Username, _ changes: UserChanges) async throws(RealmError) {
        try await files.apply(.change(user, changes))
    }

    /// Removes all lines of the user.
    public func remove(_ user: Username) async throws(RealmError) {
        try await files.apply(.remove(user))
    }
}

extension FileRealm: UserFileRealm {
    /// Returns values for the properties `file` and `group-file`.
    public static func propertyValues(file: String, groupFile: String?) -> [String: PropertyValue] {
        var values: [String: PropertyValue] = ["file": .string(file)]
        if let groupFile { values["group-file"] = .string(groupFile) }
        return values
    }

    /// The ``warnings`` about single lines of the files.
    public var lineWarnings: [String] { files.table.lineWarnings }

    /// The ``warnings`` about the files as a whole.
    public var fileWarnings: [String] {
        let table = files.table
        let lines = Set(table.lineWarnings)
        return table.warnings.filter { !lines.contains($0) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Passwords
package import RealmKit
internal import Store
internal import Synchronization

/// The users of the realm for `gatehouse user` and for imports.
extension StoreRealm {
    package func users() async throws(RealmError) -> [UserRecord] { try await exportUsers().map(\.record) }

    /// Returns all users with their hashes, sorted by name.
    package func exportUsers() async throws(RealmError) -> [NewUser] {
        let users = try await mappingFaults { [store, name] () async throws(StoreFault) in
            try await store.users(of: name)
        }
        return users.map { NewUser($0.record, hash: $0.hash) }
    }

    package func add(_ user: UserRecord, hash: String?) async throws(RealmError) {
        try await add(all: [NewUser(user, hash: hash)])
    }

    /// Adds users, or none if one of them cannot be added.
    package func add(all users: [NewUser], progress: @escaping @Sendable (Int) -> Void) async throws(RealmError) {
        try await add(from: UserArray(users), progress: progress)
    }

    /// Adds the users of a source in one transaction of the store, or none if one of them cannot be added.
    package func add(from source: any UserSource, progress: @escaping @Sendable (Int) -> Void) async throws(RealmError)
    {
        // The store would report an error of the source as an error of the store.
        let failure = Mutex<RealmError?>(nil)
        do throws(RealmError) {
            try await mappingFaults { [self] () async throws(StoreFault) in
                try await store.add(to: name, ignoringCase: !isCaseSensitive, progress: progress) { [self] add in
                    do throws(RealmError) {
                        try source.read { users throws(RealmError) in
                            let rows = try rows(users)
                            do throws(StoreFault) { try add(rows) } catch { throw Self.error(for: error) }
                        }
                    } catch {
                        failure.withLock { $0 = error }
                        throw error
                    }
                }
            }
        } catch {
            throw failure.withLock { $0 } ?? error
        }
    }

    /// Returns the rows of users, whose formats are the costs of their hashes.
    private func rows(_ users: [NewUser]) throws(RealmError) -> [NewUser] {
        var rows: [NewUser] = []
        rows.reserveCapacity(users.count)
        for user in users {
            do throws(RealmError) {
                var record = user.record
                record.groups = try Self.checked(record.groups)
                record.format = try cost(user.hash)
                rows.append(NewUser(record, hash: user.hash, place: user.place))
            } catch {
                guard let place = user.place else { throw error }
                throw RealmError(error.code, "\(place): \(error.message)")
            }
        }
        return rows
    }

    package func change(_ user: Username, _ changes: UserChanges) async throws(RealmError) {
        var changes = changes
        if let groups = changes.groups { changes.groups = try Self.checked(groups) }
        let cost = try cost(changes.hash)
        let checked = changes
        try await mappingFaults { [self] () async throws(StoreFault) in
            _ = try await store.change(try await storedName(of: user), in: name, changes: checked, cost: cost)
        }
    }

    /// Stores the new password of a user who must change it; throws if another change has replaced the old hash.
    func replacePassword(with hash: String, of user: Username, instead old: String) async throws(RealmError) {
        var changes = UserChanges()
        changes.hash = hash
        changes.replacing = old
        changes.mustChangePassword = false
        let (cost, checked, now) = (try cost(hash), changes, clock.seconds)
        let isReplaced = try await mappingFaults { [self] () async throws(StoreFault) in
            let user = try await storedName(of: user)
            var writable = store
            // authcheck opens the store only for reading.
            if store.isReadOnly, let folder = store.folder { writable = try GatehouseStore.open(folder: folder) }
            // The user may have taken minutes for the new password.
            return try await writable.change(user, in: name, changes: checked, cost: cost) {
                $0.isEnabled && $0.expiry.map { $0 > now } ?? true
            }
        }
        guard isReplaced else { throw .unavailable("the user \(user) was changed meanwhile") }
    }

    package func remove(_ user: Username) async throws(RealmError) {
        try await mappingFaults { [self] () async throws(StoreFault) in
            try await store.remove(try await storedName(of: user), from: name)
        }
    }

    /// Returns the cost of a hash as text for the store; throws if a check of the hash is not possible.
    private func cost(_ hash: String?) throws(RealmError) -> String? {
        guard let hash else { return nil }
        let cost = try Result { () throws(BadHash) in try StoredPassword(hash).hash.cost }
            .mapError { RealmError.invalidOperation($0.description) }.get()
        if let fault = passwords.limitFault(cost) { throw .invalidOperation(fault) }
        return cost.description
    }

    private static func checked(_ groups: [String]) throws(RealmError) -> [String] {
        var seen: Set<UTF8Text> = []
        for group in groups {
            guard GroupName.isUsable(group) else {
                throw .invalidOperation(
                    "a group's name must not be empty, have more than \(GroupName.maximumBytes) bytes, "
                        + "or contain control characters"
                )
            }
        }
        return groups.filter { seen.insert(UTF8Text($0)).inserted }
    }
}

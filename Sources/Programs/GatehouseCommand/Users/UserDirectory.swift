// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import Throttle

/// A realm whose users can be listed.
struct UserDirectory {
    let realm: any UserListingRealm
    private let bound: BoundRealm
    private let store: LazyStore?

    /// Selects a realm of a configuration.
    ///
    /// - Parameters:
    ///   - options: The options that name the configuration and the realm.
    ///   - kinds: The types of realms that the program contains.
    /// - Throws: ``CommandError`` if the users of the realm cannot be listed.
    init(_ options: RealmOptions, kinds: [RealmKind]) throws(CommandError) {
        let program = GatehouseCommand.services(.existingOnly, log: GatehouseCommand.realmLog)
        let configuration = try GatehouseCommand.load(options.configuration, kinds: kinds, services: program)
        bound = try configuration.realm(options.realm) { $0 is any UserListingRealm }
        store = configuration.services[LazyStore.self]
        guard let realm = bound.realm as? any UserListingRealm else {
            throw UserAdministration.missing("listed or changed here", of: bound, in: configuration) {
                $0 is any UserListingRealm
            }
        }
        self.realm = realm
    }

    /// Returns the text of users with their locks.
    ///
    /// If the locks cannot be read, a message is printed, and the users are shown without them.
    func text() async -> UserText {
        var locks = AccountLocks.none
        do throws(CommandError) {
            locks = try await AccountLocks(store)
        } catch {
            GatehouseCommand.print(Printable.line(error.message), on: STDERR_FILENO)
        }
        let now = WallClock.system.seconds
        // A realm that keeps the users itself knows all values of their records.
        return UserText(at: now, isComplete: realm is any ManagedRealm) { [bound] user in
            locks.record(of: user.name, in: bound)?.lockout(at: now)
        }
    }

    /// Returns all users.
    func users() async throws(CommandError) -> [UserRecord] {
        do throws(RealmError) { return try await realm.users() } catch { throw CommandError(error) }
    }

    /// Returns the user with a name.
    func record(_ text: String) async throws(CommandError) -> UserRecord { try await Self.record(text, of: realm) }

    /// Returns the user of a realm with a name.
    static func record(_ text: String, of realm: any UserListingRealm) async throws(CommandError) -> UserRecord {
        let name = try Username(argument: text)
        do throws(RealmError) {
            guard let record = try await realm.user(name) else { throw RealmError.noSuchUser(name) }
            return record
        } catch {
            throw CommandError(error)
        }
    }
}

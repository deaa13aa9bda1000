// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandSupport
internal import HostServices
internal import RealmConfiguration
internal import RealmKit

/// A realm whose users can be listed.
struct UserDirectory {
    let realm: any UserListingRealm

    init(realm: any UserListingRealm) {
        self.realm = realm
    }

    /// Selects a realm of a configuration.
    ///
    /// - Parameters:
    ///   - options: The options that name the configuration and the realm.
    ///   - kinds: The types of realms that the program contains.
    /// - Throws: ``CommandError`` if the users of the realm cannot be listed.
    init(_ options: RealmOptions, kinds: [RealmKind]) throws(CommandError) {
        let program = GatehouseCommand.services(.existingOnly, log: GatehouseCommand.realmLog)
        let configuration = try GatehouseCommand.load(options.configuration, kinds: kinds, services: program)
        let bound = try configuration.realm(options.realm)
        guard let realm = bound.realm as? any UserListingRealm else {
            throw UserAdministration.missing("listed or changed here", of: bound, in: configuration) {
                $0 is any UserListingRealm
            }
        }
        self.realm = realm
    }

    /// True if the realm keeps the users itself, so that all values of their records are known.
    var isComplete: Bool { realm is any ManagedRealm }

    /// Returns all users.
    func users() async throws(CommandError) -> [UserRecord] {
        do throws(RealmError) { return try await realm.users() } catch { throw CommandError(error) }
    }

    /// Returns the user with a name.
    func record(_ text: String) async throws(CommandError) -> UserRecord {
        let name = try Username(argument: text)
        do throws(RealmError) {
            guard let record = try await realm.user(name) else { throw RealmError.noSuchUser(name) }
            return record
        } catch {
            throw CommandError(error)
        }
    }
}

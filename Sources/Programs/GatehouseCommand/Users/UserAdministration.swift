// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Files
internal import Glibc
internal import Passwords
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import Throttle

/// A realm whose users can be changed, with the services and settings for new passwords.
struct UserAdministration {
    let configuration: Configuration
    let realmName: String
    let realm: any ManagedRealm
    let passwords: PasswordService

    init(_ options: RealmOptions, kinds: [RealmKind]) throws {
        try self.init(options.load(kinds, access: .createIfMissing), realm: options.realm)
    }

    /// Selects a realm whose users can be changed; nil for the default realm.
    init(_ configuration: Configuration, realm name: String? = nil) throws {
        let (bound, realm) = try configuration.realm(name, as: { $0 as? any ManagedRealm }) { realm in
            realm is any UserListingRealm ? "changed here" : "listed or changed here"
        }
        guard let passwords = configuration.services[PasswordService.self] else {
            throw CommandError(.configuration, "this program cannot hash passwords")
        }
        (self.configuration, realmName, self.realm, self.passwords) = (configuration, bound.name, realm, passwords)
    }

    /// The settings of new passwords.
    var settings: PasswordSettings { configuration.passwords }
    var stateFolder: String { configuration.server.stateFolder.value }

    // See `Expire.changes()`.
    @inline(never)
    func change(_ user: String, _ changes: UserChanges, done: String) async throws {
        // A realm that ignores the case of names has another spelling.
        let name = try await realm.record(user).name
        try await realm.change(name, changes)
        let isServed = StateFolder.Lock.isServerRunning(in: stateFolder)
        report("\(Printable.line(name.text)) \(done)", note: isServed ? "open sessions end within seconds" : nil)
    }

    func remove(_ name: Username) async throws {
        try await realm.remove(name)
        // Without a store there are no sessions.
        guard let source = configuration.services[LazyStore.self],
            unsafe access("\(source.folder)/\(GatehouseStore.fileName)", F_OK) == 0
        else { return }
        let store: GatehouseStore
        do throws(StoreFault) {
            store = try source.store()
        } catch {
            throw CommandError(.unavailable, "the user was removed, but the user's sessions were not ended: \(error)")
        }
        try await ConfiguredStore(configuration, store: store).endSessions(of: name, in: realmName)
    }

    /// Hashes a new password, if the settings allow it.
    func hash(_ password: Secret) async throws -> String {
        try settings.check(password)
        do throws(LoginFault) {
            return try await passwords.hash(password)
        } catch {
            throw CommandError(error.kind == .unusableCredential ? .failed : .unavailable, error.log)
        }
    }

    /// Prints what the command has done, with the name of the realm.
    func report(_ text: String, note: String? = nil) {
        let details = ["realm \(realmName)", note].compactMap(\.self).joined(separator: "; ")
        GatehouseCommand.print("\(text) (\(details))")
    }
}

extension Configuration {
    /// Returns the realm of a name, the default realm or the only usable one, if it is of a kind; `missing` says what the users
    /// of another realm cannot be.
    func realm<Kind>(
        _ name: String?,
        as kind: (any Realm) -> Kind?,
        missing: (any Realm) -> String
    ) throws -> (bound: BoundRealm, realm: Kind) {
        let bound = try realm(name) { kind($0) != nil }
        if let realm = kind(bound.realm) { return (bound, realm) }
        let others = realms.filter { kind($0.realm) != nil }.map(\.name)
        let hint =
            others.isEmpty
            ? "the configuration has no realm with such users"
            : "realms with such users: \(others.joined(separator: ", "))"
        let action = missing(bound.realm)
        throw CommandError(
            .failed,
            "realm \(bound.name) is a \(bound.className), whose users cannot be \(action); \(hint)"
        )
    }
}

extension UserListingRealm {
    func record(_ text: String) async throws -> UserRecord {
        let name = try Username(argument: text)
        guard let record = try await user(name) else { throw RealmError.noSuchUser(name) }
        return record
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
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

    init(_ options: RealmOptions, kinds: [RealmKind], access: StateAccess = .createIfMissing) throws {
        let program = GatehouseCommand.services(access, log: GatehouseCommand.realmLog)
        let configuration = try GatehouseCommand.load(options.configuration, kinds: kinds, services: program)
        try self.init(configuration, realm: options.realm)
    }

    /// Selects a realm whose users can be changed; nil for the default realm.
    init(_ configuration: Configuration, realm name: String? = nil) throws {
        let bound = try configuration.realm(name) { $0 is any ManagedRealm }
        guard let realm = bound.realm as? any ManagedRealm else {
            let isListed = bound.realm is any UserListingRealm
            throw Self.missing(isListed ? "changed here" : "listed or changed here", of: bound, in: configuration) {
                $0 is any ManagedRealm
            }
        }
        guard let passwords = configuration.services[PasswordService.self] else {
            throw CommandError(.configuration, "this program cannot hash passwords")
        }
        self.configuration = configuration
        realmName = bound.name
        self.realm = realm
        self.passwords = passwords
    }

    /// The settings of new passwords.
    var settings: PasswordSettings { configuration.passwords }
    var stateFolder: String { configuration.server.stateFolder.value }

    /// The error for a realm whose users cannot be listed or changed, with the realms whose users can.
    static func missing(
        _ action: String,
        of bound: BoundRealm,
        in configuration: Configuration,
        _ isPossible: (any Realm) -> Bool
    ) -> CommandError {
        let others = configuration.realms.filter { isPossible($0.realm) }.map(\.name)
        let hint =
            others.isEmpty
            ? "the configuration has no realm with such users"
            : "realms with such users: \(others.joined(separator: ", "))"
        return CommandError(
            .failed,
            "realm \(bound.name) is a \(bound.className), whose users cannot be \(action); \(hint)"
        )
    }

    func record(_ text: String) async throws -> UserRecord {
        try await UserDirectory.record(text, of: realm)
    }

    func change(_ text: String, to changes: UserChanges, done: String) async throws {
        // A realm that ignores the case of names has another spelling.
        let name = try await record(text).name
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
        try await SessionAdministration(configuration, store: store).endSessions(of: name, in: realmName)
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

struct UserDirectory {
    let realm: any UserListingRealm
    private let bound: BoundRealm
    private let store: LazyStore?

    init(_ options: RealmOptions, kinds: [RealmKind]) throws {
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

    /// The text of users with their locks; if these cannot be read, a message is printed, and users are shown without them.
    func text() async -> UserText {
        var locks = AccountLocks()
        do {
            locks = try await AccountLocks(store)
        } catch {
            GatehouseCommand.print(Printable.line(CommandError(error).message), on: STDERR_FILENO)
        }
        let now = WallClock.system.seconds
        // A realm that keeps the users itself knows all values of their records.
        return UserText(now: now, isComplete: realm is any ManagedRealm) { [bound] user in
            locks.record(of: user.name, in: bound)?.lockout(at: now)
        }
    }

    func record(_ text: String) async throws -> UserRecord { try await Self.record(text, of: realm) }

    static func record(_ text: String, of realm: any UserListingRealm) async throws -> UserRecord {
        let name = try Username(argument: text)
        guard let record = try await realm.user(name) else { throw RealmError.noSuchUser(name) }
        return record
    }
}

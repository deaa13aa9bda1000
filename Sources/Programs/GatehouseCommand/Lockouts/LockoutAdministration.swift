// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CommandSupport
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import Throttle

/// The failed logins and locks in the store of a configuration.
struct LockoutAdministration {
    let configuration: Configuration
    let store: GatehouseStore

    init(_ options: ConfigurationOptions, kinds: [RealmKind], access: StateAccess) throws(CommandError) {
        (configuration, store) = try GatehouseCommand.loadStore(options, kinds: kinds, access: access)
    }

    func clear(_ scope: LockoutReset.Scope) async throws(CommandError) {
        do throws(ThrottleStoreError) {
            try await store.clear(scope)
        } catch {
            throw CommandError(.unavailable, error.message)
        }
        try await GatehouseCommand.waitForServer(store)
    }

    /// Checks that a text is an address, or a network under which failed logins are counted.
    func check(_ source: String) async throws(CommandError) {
        do throws(BadValue) {
            _ = try CIDRBlock(source)
            // Failed logins over IPv6 are counted for networks of 64 bits. `lockouts list` shows them as networks, so
            // --source accepts such a network too.
            guard source.contains("/"), !source.hasSuffix("::/64") else { return }
        } catch {
            guard try await !records().contains(where: { $0.key == .source(ClientNetwork(source)) }) else { return }
        }
        throw CommandError(.usage, "--source takes an address such as 192.0.2.7 or 2001:db8::1, not \(source)")
    }

    func records() async throws(CommandError) -> [ThrottleRecord] {
        do throws(ThrottleStoreError) {
            return try await store.load().records
        } catch {
            throw CommandError(.unavailable, error.message)
        }
    }

    /// Clears the failed logins and the lock of a user, and prints what was done.
    ///
    /// - Throws: ``CommandError``, also if the realm has no such user and there were no failed logins: the name is
    ///   probably misspelled.
    func clear(user: String, of realm: String?) async throws(CommandError) {
        let bound = try configuration.realm(realm)
        let name = try Username(argument: user)
        let key = ThrottleKey.account(bound.account(of: name))
        let record = try await records().first { $0.key == key }
        try await clear(.one(key))
        let isUnknown = await Self.isUnknown(name, in: bound)
        let (shown, realm) = (Printable.line(user), "realm \(bound.name)")
        guard let record else {
            guard !isUnknown else {
                let message = "\(realm) has no user \(shown), and there were no failed logins of that name"
                throw CommandError(.failed, message)
            }
            GatehouseCommand.print("\(shown) is not locked, and has no failed logins (\(realm))", on: STDOUT_FILENO)
            return
        }
        let done = record.lockout(at: WallClock.system.seconds) == nil ? "was not locked" : "unlocked"
        let removed = "\(FailedLogins.text(record.failures)) removed"
        let note = isUnknown ? "; it has no such user" : ""
        GatehouseCommand.print("\(shown) \(done); \(removed) (\(realm)\(note))", on: STDOUT_FILENO)
    }

    /// Returns whether a realm has certainly no user of a name.
    private static func isUnknown(_ name: Username, in realm: BoundRealm) async -> Bool {
        guard let realm = realm.realm as? any UserListingRealm else { return false }
        do throws(RealmError) { return try await realm.user(name) == nil } catch { return false }
    }
}

/// The failed logins and locks of accounts, as the server has stored them.
struct AccountLocks: Sendable {
    private var records: [ThrottleKey: ThrottleRecord] = [:]

    /// No failed logins.
    static let none = AccountLocks([])

    init(_ records: [ThrottleRecord]) {
        for record in records { self.records[record.key] = record }
    }

    /// Reads the failed logins of a store.
    ///
    /// - Parameter store: The store; nil if the program has none.
    /// - Throws: ``CommandError`` if the store cannot be read.
    init(_ store: LazyStore?) async throws(CommandError) {
        do {
            self.init(try await store?.present()?.load().records ?? [])
        } catch {
            throw CommandError(.unavailable, "the locks could not be read: \(error)")
        }
    }

    /// Returns the failed logins of a user; nil if there are none.
    func record(of user: Username, in realm: BoundRealm) -> ThrottleRecord? {
        records[.account(realm.account(of: user))]
    }
}

extension Lockout {
    /// The end and the reason of the lock, such as `until 2027-01-31T10:00:00Z (10 failed logins)`.
    var text: String { "until \(UTCTime.text(end)) (\(FailedLogins.text(failures)))" }
}

/// A number of failed logins, for administrators.
enum FailedLogins {
    static func text(_ count: Int) -> String { count == 1 ? "1 failed login" : "\(count) failed logins" }
}

// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
internal import Passwords
package import RealmKit
internal import Store
internal import Synchronization

/// A realm of users in the embedded store.
///
/// A user has groups, can be disabled, can have an expiry, and can be required to change the password. The store is an
/// SQLite file in the state folder. `gatehouse user` can change it while a server is running. Every realm of this class
/// has its own users, which are stored under the realm's name.
///
/// Properties: `jaas-context` (`storeRealm`), `rehash` (`true`), `case-sensitive` (`true`) and `truncated-passwords`
/// (`false`). With `rehash`, a hash that is weaker than the policy is replaced when its user signs in. With
/// `case-sensitive false`, names that differ in case are the same user, who is signed in with the stored name. With
/// `truncated-passwords true`, a hash that covers only a part of a longer password accepts it once, and is replaced.
package final class StoreRealm: ManagedRealm, RefreshingRealm, GroupLookupRealm {
    package static let properties: PropertySchema = [
        .jaasContext(default: "storeRealm"),
        Property("rehash", .boolean, default: "true"),
        Property("case-sensitive", .boolean, default: "true"),
        Property("truncated-passwords", .boolean, default: "false"),
    ]

    package let jaasContext: String
    package let name: String
    let store: GatehouseStore
    let passwords: PasswordService
    let rules: NewPasswordRules
    let rehashes: Bool
    let isCaseSensitive: Bool
    let formatOptions: FormatOptions
    let log: RealmLog
    let clock: WallClock
    private let lastCheck = Mutex(LastCheck())
    /// The largest number of costs about which the log has warned.
    private let knownCosts = Mutex(3)

    private struct LastCheck {
        /// Nil before the first check.
        var number: Int64?
        var hasFailed = false
    }

    package var authType: String { "embedded store" }

    /// Creates the realm; throws if the program provides no store, the store cannot be opened, or names of users differ in
    /// case only although case is ignored.
    package init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        rehashes = try properties.boolean("rehash")
        isCaseSensitive = try properties.boolean("case-sensitive")
        var formatOptions = FormatOptions()
        formatOptions.acceptsTruncated = try properties.boolean("truncated-passwords")
        guard rehashes || !formatOptions.acceptsTruncated else {
            throw BadRealm("needs rehash true, so that such a hash is replaced", setting: "truncated-passwords")
        }
        self.formatOptions = formatOptions
        name = properties.realmName
        guard let source = properties.services[LazyStore.self],
            let passwords = properties.services[PasswordService.self],
            let clock = properties.services[WallClock.self]
        else { throw BadRealm("this program has no store for users") }
        self.passwords = passwords
        self.clock = clock
        rules = properties.services[NewPasswordRules.self] ?? NewPasswordRules()
        log = properties.services[RealmLog.self] ?? RealmLog { _, _ in }
        let alike: [[String]]
        do throws(StoreFault) {
            store = try source.store()
            alike = isCaseSensitive ? [] : try store.namesDifferingInCase(in: name)
        } catch {
            throw BadRealm(state: error.description)
        }
        guard alike.isEmpty else {
            let pairs = alike.map { $0.joined(separator: " and ") }.joined(separator: ", ")
            throw BadRealm(
                "there are users whose names differ in case only: \(pairs)",
                setting: "case-sensitive",
                hint: "remove one user of each pair with gatehouse user remove while case-sensitive is true"
            )
        }
    }

    package var ignoresCase: Bool { !isCaseSensitive }

    /// Returns the name of a user as it is stored; the name itself if there is no such user.
    func storedName(of user: Username) async throws(StoreFault) -> Username {
        guard !isCaseSensitive else { return user }
        return try await store.spelling(of: user, in: name) ?? user
    }

    /// Returns the user with a name, in any case if case is ignored.
    func storedUser(_ user: Username) async throws(RealmError) -> StoredUser? {
        try await mappingFaults { [self] () async throws(StoreFault) in
            try await store.user(try await storedName(of: user), in: name)
        }
    }

    package func user(_ name: Username) async throws(RealmError) -> UserRecord? {
        try await storedUser(name)?.record
    }

    package func groupNames(of user: Username) async throws(RealmError) -> [String] {
        guard let stored = try await storedUser(user) else { throw .noSuchUser(user) }
        return stored.record.groups
    }

    package func attributes(of user: Username) async throws(RealmError) -> [UserAttribute] {
        guard let stored = try await storedUser(user) else { throw .noSuchUser(user) }
        return stored.record.attributes
    }

    package func existingGroups(_ names: [String]) async throws(RealmError) -> [String] {
        try await mappingFaults { [store, name] () async throws(StoreFault) in try await store.groups(of: name) }
    }

    /// Returns the users who have changed since the last call; all at the first call, and if the store cannot be read.
    package func refresh() async -> ChangedUsers {
        let last = lastCheck.withLock { $0.number }
        do throws(StoreFault) {
            let (number, users) = try await store.changes(in: name, after: last)
            lastCheck.withLock { $0 = LastCheck(number: number) }
            // Changes before the first call are not known.
            return last == nil ? .all : users
        } catch {
            guard error.code != .cancelled else { return .all }
            // While the store cannot be read, users may have changed, so earlier logins must not be trusted.
            let isNew = lastCheck.withLock { check in
                defer { check.hasFailed = true }
                return !check.hasFailed
            }
            if isNew { log("realm \(name): \(error)", .error) }
            return .all
        }
    }

    /// Returns whether the user may sign in, with a stamp of the hash, the groups, the attributes and the expiry.
    ///
    /// The state is unknown while the store cannot be read.
    package func state(of user: Username) async -> UserState {
        let stored: StoredUser?
        do throws(StoreFault) {
            stored = try await store.user(user, in: name)
        } catch {
            // A cancelled request is not an error of the store.
            if error.code != .cancelled { log("realm \(name): \(error)", .error) }
            return .unknown
        }
        guard let stored, let hash = stored.hash, stored.record.isEnabled, !stored.record.mustChangePassword,
            stored.record.expiry.map({ clock.seconds < $0 }) ?? true
        else { return .gone }
        let end = stored.record.expiry.map { "\($0)" } ?? ""
        // No name of a group contains U+001F. A user without attributes has the same stamp as in earlier versions.
        let attributes = stored.record.attributes.flatMap { ["\u{1F}", $0.name] + $0.values }
        do throws(OpenSSLError) {
            // The stamp contains the class, so that sessions end if a realm of another class gets the same name.
            return .present(
                SecurityStamp(
                    try Digest.sha256(fields: ["StoreRealm", hash, end] + stored.record.groups + attributes).bytes,
                    expiry: stored.record.expiry
                )
            )
        } catch {
            log("realm \(name): \(error)", .error)
            return .unknown
        }
    }

    func mappingFaults<Value: Sendable>(
        _ body: () async throws(StoreFault) -> Value
    ) async throws(RealmError) -> Value {
        do throws(StoreFault) { return try await body() } catch { throw Self.error(for: error) }
    }

    static func error(for fault: StoreFault) -> RealmError {
        switch fault.code {
        case .exists: RealmError(.userExists, fault.description)
        case .missing: RealmError(.noSuchUser, fault.description)
        case .unavailable, .tooNew, .tooOld, .cancelled: .unavailable(fault.description)
        }
    }

    /// Warns if the hashes have more costs than a login computes, again when there are more.
    func warn(about costs: [HashCost]) {
        let isNew = knownCosts.withLock { known in
            defer { known = max(known, costs.count) }
            return costs.count > known
        }
        let limit = passwords.longestCheck
        guard isNew, HashCost.checked(of: costs, longestCheck: limit).count < costs.count,
            let warning = HashCost.warning(about: costs, longestCheck: limit)
        else { return }
        log("realm \(name): \(warning)", .warning)
    }
}

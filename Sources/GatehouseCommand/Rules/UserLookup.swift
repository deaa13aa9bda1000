// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import CommandSupport
internal import HostServices
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import Throttle

/// A user of a realm, as the realm and the store know the user without a login.
struct UserLookup: Sendable {
    /// The groups that the realm gives the user; empty if they are not known.
    private(set) var groups: [String] = []
    /// The attributes that the realm gives the user; empty if they are not known.
    private(set) var attributes: [UserAttribute] = []
    /// The reason why the user cannot sign in; nil if none is known.
    private(set) var obstacle: String?
    /// What was found about the user, a sentence each.
    private(set) var notes: [String] = []

    /// The maximum time to wait for a realm.
    private static let timeLimit = Duration.seconds(5)

    /// Looks a user up.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - realm: The realm of the user.
    ///   - store: The store of the configuration, which has the locks; nil if there is none.
    ///   - now: The time in seconds since 1970.
    init(_ user: Username, in realm: BoundRealm, store: LazyStore?, now: Int) async {
        let lookup = Task { await Self.findings(about: user, in: realm, now: now) }
        defer { lookup.cancel() }
        if let found = await TimeLimitedWait.value(of: lookup, within: Self.timeLimit, clock: SystemClock()) {
            self = found
        } else {
            noteMissingGroups(of: user, because: "realm \(realm.name) did not answer within \(Self.timeLimit)")
        }
        if let store { notes += await Self.locks(of: user, in: realm, store: store, now: now) }
    }

    private init() {}

    private mutating func noteMissingGroups(of user: Username, because reason: String) {
        notes.append("name the groups of \(user) with --groups, because the realm has not returned them: \(reason)")
    }

    private static func findings(about user: Username, in realm: BoundRealm, now: Int) async -> UserLookup {
        var lookup = UserLookup()
        var records: [UserRecord] = []
        for (name, account) in accounts(of: user, in: realm) {
            do throws(RealmError) {
                guard let record = try await account.record(of: name) else { continue }
                records.append(record)
                let groups = record.groups.isEmpty ? "no group" : GroupName.list(record.groups)
                let state = UserText.state(record, at: now)
                lookup.notes.append("\(name) of realm \(account.name): \(state), in \(groups)")
            } catch {
                lookup.notes.append("realm \(account.name) has not returned the account of \(name): \(error)")
            }
        }
        if let refreshing = realm.realm as? any RefreshingRealm, case .gone = await refreshing.state(of: user) {
            if records.isEmpty { lookup.notes.append("\(user) of realm \(realm.name): there is no such user") }
            // A realm that uses other realms may refuse a user for a reason that is not in an account.
            let isManaged = realm.realm is any ManagedRealm
            lookup.obstacle = isManaged ? obstacle(of: records.first, at: now) : "the realm does not accept the user"
        }
        do throws(RealmError) {
            lookup.groups = try await realm.realm.groupNames(of: user)
            lookup.attributes = try await realm.realm.attributes(of: user)
        } catch {
            // Without an account there are no groups to name.
            if lookup.obstacle == nil { lookup.noteMissingGroups(of: user, because: error.description) }
        }
        return lookup
    }

    /// Returns the realms that keep accounts of the user, with the user's name there.
    ///
    /// These are the realm itself, or the realms that it uses.
    private static func accounts(of user: Username, in realm: BoundRealm) -> [(Username, BoundRealm)] {
        if realm.realm is any ManagedRealm { return [(user, realm)] }
        guard let naming = realm.realm as? any NamingRealm else { return [] }
        return realm.nested.flatMap { other in
            naming.names(of: user, in: other).flatMap { accounts(of: $0, in: other) }
        }
    }

    /// Returns the reason why a realm does not accept the user of an account.
    private static func obstacle(of record: UserRecord?, at now: Int) -> String {
        guard let record else { return "there is no such user" }
        if !record.isEnabled { return "the account is disabled" }
        if let expiry = record.expiry, expiry <= now { return "the account expired after \(Day.last(before: expiry))" }
        if record.format == nil { return "the account has no password" }
        return record.mustChangePassword ? "the password must be changed" : "the account cannot be used"
    }

    private static func locks(of user: Username, in realm: BoundRealm, store: LazyStore, now: Int) async -> [String] {
        do throws(StoreFault) {
            let store = try store.store()
            do throws(ThrottleStoreError) {
                let key = ThrottleKey.account(realm.account(of: user))
                return try await store.load().records.filter { $0.key == key }
                    .compactMap { $0.lockout(at: now) }.map { lock in
                        let end = UTCTime.text(lock.end)
                        let failures = "\(lock.failures) failed logins"
                        return
                            "\(user) is locked until \(end) after \(failures): sign-ins are refused, sessions continue"
                    }
            } catch {
                return ["the locks could not be read: \(error.message)"]
            }
        } catch {
            return ["the locks could not be read: \(error)"]
        }
    }
}

extension BoundRealm {
    /// Returns the account of a user; nil if the realm has none, or has no accounts that can be listed.
    fileprivate func record(of user: Username) async throws(RealmError) -> UserRecord? {
        guard let managed = realm as? any ManagedRealm else { return nil }
        return try await managed.users().first { $0.name == user }
    }
}

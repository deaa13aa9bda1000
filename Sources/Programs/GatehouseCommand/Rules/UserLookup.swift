// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import Throttle

/// A user of a realm, as the realm and the store know the user without a login.
struct UserLookup: Sendable {
    /// The name as the realm spells it.
    private(set) var name: Username
    private(set) var lock: Lockout?
    /// The groups and attributes that the realm gives the user; empty if they are not known.
    private(set) var groups: [String] = []
    private(set) var attributes: [UserAttribute] = []
    /// The reason why the user cannot sign in; nil if none is known.
    private(set) var obstacle: String?
    /// The findings about the user, a sentence each.
    private(set) var notes: [String] = []

    private static let timeLimit = Duration.seconds(5)

    init(_ user: Username, in realm: BoundRealm, store: LazyStore?, now: Int) async {
        let lookup = Task { await Self.findings(about: user, in: realm, now: now) }
        defer { lookup.cancel() }
        if let found = await TimeLimitedWait.value(of: lookup, within: Self.timeLimit, clock: SystemClock()) {
            self = found
        } else {
            self.init(user)
            noteMissingGroups(of: user, because: "realm \(realm.name) did not answer within \(Self.timeLimit)")
        }
        do {
            lock = try await store?.locks()[.account(realm.account(of: user))]?.lockout(at: now)
        } catch {
            notes.append(CommandError(error).message)
        }
        if let lock {
            let reason = "after \(FailedLogins.text(lock.failures)): sign-ins are refused, sessions continue"
            notes.append("\(name) is locked until \(UTCTime.text(lock.end)) \(reason)")
        }
    }

    private init(_ name: Username) { self.name = name }

    private mutating func noteMissingGroups(of user: Username, because reason: String) {
        notes.append("name the groups of \(user) with --groups, because the realm has not returned them: \(reason)")
    }

    private static func findings(about user: Username, in realm: BoundRealm, now: Int) async -> UserLookup {
        // The loop below reports an error.
        let user = (try? await realm.record(of: user))?.name ?? user
        var lookup = UserLookup(user)
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

    /// The realms that keep accounts of the user, this one or those that it uses, with the user's name there.
    private static func accounts(of user: Username, in realm: BoundRealm) -> [(Username, BoundRealm)] {
        if realm.realm is any ManagedRealm { return [(user, realm)] }
        guard let naming = realm.realm as? any NamingRealm else { return [] }
        return realm.nested.flatMap { other in
            naming.names(of: user, in: other).flatMap { accounts(of: $0, in: other) }
        }
    }

    private static func obstacle(of record: UserRecord?, at now: Int) -> String {
        guard let record else { return "there is no such user" }
        if !record.isEnabled { return "the account is disabled" }
        if let expiry = record.expiry, expiry <= now { return "the account expired after \(Day.last(before: expiry))" }
        if record.format == nil { return "the account has no password" }
        return record.mustChangePassword ? "the password must be changed" : "the account cannot be used"
    }
}

extension BoundRealm {
    /// The account of a user; nil if the realm has none, or keeps no accounts.
    fileprivate func record(of user: Username) async throws(RealmError) -> UserRecord? {
        guard let managed = realm as? any ManagedRealm else { return nil }
        return try await managed.user(user)
    }
}

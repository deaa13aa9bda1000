// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit
internal import Passwords
public import RealmKit
internal import ServerConnections

extension SQLRealm: UserListingRealm {
    /// Returns the groups of a user in the database.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] { try await find(user).groups }

    /// Returns the attributes of a user in the database.
    public func attributes(of user: Username) async throws(RealmError) -> [UserAttribute] {
        try await find(user).attributes
    }

    /// Returns a user with groups, state, attributes and the format of the password.
    ///
    /// - Parameter name: The user's name.
    /// - Returns: The record; nil if there is no such user.
    /// - Throws: ``RealmError`` of code `unavailable` or `overloaded`; `invalidOperation` if the name of the user in the
    ///   database is no valid user name.
    public func user(_ name: Username) async throws(RealmError) -> UserRecord? {
        let found = try await lookUp(name)
        guard let account = found.account else { return nil }
        var record = try record(account)
        record.groups = found.groups
        record.attributes = found.attributes
        return record
    }

    /// Returns all users, by `list-query` or from the table of users, without groups and attributes.
    ///
    /// - Returns: The users in the order of the query.
    /// - Throws: ``RealmError`` of code `invalidOperation` if there is no query for it, or `unavailable`.
    public func users() async throws(RealmError) -> [UserRecord] {
        guard let query = settings.queries.list else {
            throw .invalidOperation("the realm \(name) has no list-query, so its users cannot be listed")
        }
        let accounts: [SQLAccount]
        do throws(ServerFault) { accounts = try await users.list(query) } catch { throw .temporary(error.loginFault) }
        var records: [UserRecord] = []
        for account in accounts {
            do throws(RealmError) {
                records.append(try record(account))
            } catch {
                log("realm \(name): a user is left out of the list: \(error)", .warning)
            }
        }
        return records
    }

    private func record(_ account: SQLAccount) throws(RealmError) -> UserRecord {
        let name = try Result { () throws(BadUsername) in try Username(account.name) }
            .mapError { RealmError.invalidOperation("\($0)") }.get()
        let state = account.state
        return UserRecord(
            name,
            isEnabled: state.isEnabled && !state.isLocked,
            expiry: state.expirySeconds,
            mustChangePassword: state.mustChangePassword || state.passwordExpiry.isReached(at: clock.seconds),
            format: account.stored.flatMap { (try? read($0))?.hash.cost.description }
        )
    }

    private func find(_ user: Username) async throws(RealmError) -> FoundUser {
        let found = try await lookUp(user)
        guard found.account != nil else { throw .noSuchUser(user) }
        return found
    }

    private func lookUp(_ user: Username) async throws(RealmError) -> FoundUser {
        let found: FoundUser
        do throws(ServerFault) {
            found = try await users.find(user, source: "queries", isLogin: false)
        } catch {
            throw .temporary(error.loginFault)
        }
        guard !found.isAmbiguous else { throw .unavailable("the database has several rows for this user") }
        if let problem = found.problem { throw .unavailable(problem) }
        return found
    }
}

extension SQLRealm: RefreshingRealm {
    /// Returns no users: the database does not report changes.
    ///
    /// Sessions and cached credentials of changed users end as those of other realms do that depend on another system.
    public func refresh() async -> ChangedUsers { .none }

    /// Returns whether the user may sign in, with a stamp of the hash, the groups, the attributes and the expiry.
    ///
    /// The state is unknown while the database does not answer.
    public func state(of user: Username) async -> UserState {
        let found: FoundUser
        do throws(ServerFault) {
            found = try await users.find(user, source: "sessions", isLogin: false)
        } catch {
            if error.code == .failed { outages.write(error.log, kind: error.code.rawValue) }
            return .unknown
        }
        if let problem = found.problem {
            outages.write(problem, kind: "user")
            return .unknown
        }
        guard let account = found.account, let stored = account.stored, !isNoPassword(stored),
            account.state.failure(at: clock.seconds) == nil
        else { return .gone }
        let expiry = account.state.expirySeconds
        let attributes = found.attributes.flatMap { ["\u{1F}", $0.name] + $0.values.sorted() }
        do throws(OpenSSLError) {
            // The order of rows has no meaning.
            let fields = ["SQLRealm", stored, expiry.map { "\($0)" } ?? ""] + found.groups.sorted() + attributes
            return .present(SecurityStamp(try Digest.sha256(fields: fields).bytes, expiry: expiry))
        } catch {
            log("realm \(name): \(error)", .error)
            return .unknown
        }
    }
}

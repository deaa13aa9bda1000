// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
public import RealmKit
internal import Store

/// Checks names and passwords against the embedded store.
///
/// Every login runs the same queries and computes the same hashes. Its time therefore does not reveal whether the user
/// is unknown, disabled or expired, or the password is wrong. The options are those of ``FirstPass``.
public struct StoreLoginModule: PasswordLoginModule {
    /// The settings for sharing the password with the other modules of the stack.
    public let firstPass: FirstPass
    private let realm: StoreRealm

    /// Creates the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The realm whose users it checks.
    ///   - options: The options `tryFirstPass`, `useFirstPass`, `storePass` and `clearPass`.
    /// - Throws: ``BadModule`` for options that are not valid.
    public init(realm: StoreRealm, options: ModuleOptions) throws(BadModule) {
        self.realm = realm
        firstPass = try FirstPass(options)
    }

    /// Succeeds if the user exists, may sign in, and the password matches.
    public func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        let found: StoredLogin
        do throws(StoreFault) {
            found = try await realm.store.login(attempt.username, in: realm.name)
        } catch {
            throw .unavailable(error.description)
        }
        let (stored, costs) = read(found, for: attempt)
        let isCorrect = try await realm.passwords.check(password, against: stored, costs: costs, for: attempt)
        guard let user = found.user else { return .failed(.unknownUser) }
        guard isCorrect, let stored else { return .failed(.wrongCredentials) }
        guard user.record.isEnabled else { return .failed(.disabled) }
        if let expiry = user.record.expiry, expiry <= realm.clock.seconds { return .failed(.accountExpired) }
        guard !user.record.mustChangePassword else { return .failed(.credentialExpired) }
        if realm.rehashes, !realm.store.isReadOnly, realm.passwords.policy.needsRehash(of: stored.hash) {
            attempt.updateShared { shared in
                shared[oldHashKey] = .text(stored.text)
                shared[passwordKey] = .secret(password)
            }
        }
        return attempt.commit(as: user.record.name, groups: found.groups)
    }

    /// Replaces the stored hash if it is weaker than the policy.
    ///
    /// The hash is replaced in the commit phase because only then the stack has accepted the login. If the login is
    /// rejected, for example because the account is locked, its time must not reveal that the password was correct. If
    /// the hash cannot be replaced, the login still succeeds.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        let shared = attempt.shared
        firstPass.cleanUp(attempt)
        guard attempt.succeeded else { return .ignored }
        guard let old = shared.text(oldHashKey), let password = shared.secret(passwordKey) else { return .done }
        do {
            var changes = UserChanges()
            changes.hash = try await realm.passwords.hash(password)
            changes.replacing = old
            try await realm.change(attempt.username, changes)
        } catch {
            realm.log(
                "realm \(realm.name): the weak password hash of \(attempt.username) was not replaced: \(error)",
                .notice
            )
        }
        return .done
    }

    private var oldHashKey: SharedState.Key { SharedState.Key("gatehouse.store.\(realm.name).hash") }
    private var passwordKey: SharedState.Key { SharedState.Key("gatehouse.store.\(realm.name).password") }

    /// Returns the user's stored password, and a decoy of every cost in the realm.
    ///
    /// Exactly one hash of each cost is read: the user's own hash, or the hash of another user. Reading a hash takes a
    /// few hundredths of the time of a cheap check. Another number of hashes would therefore reveal which users exist.
    private func read(
        _ found: StoredLogin,
        for attempt: LoginAttempt
    ) -> (stored: StoredPassword?, costs: [any PasswordHash]) {
        var own: StoredPassword?
        var costs: [any PasswordHash] = []
        var isRead = found.user?.hash == nil
        for (cost, hash) in found.costs {
            let isOwn = !isRead && cost == found.user?.record.format
            if isOwn { isRead = true }
            let stored = read(isOwn ? found.user?.hash ?? hash : hash, for: isOwn ? attempt : nil)
            if isOwn { own = stored }
            if let decoy = (stored ?? (isOwn ? read(hash, for: nil) : nil))?.hash.decoy { costs.append(decoy) }
        }
        // The cost of the hash is not in the list if another program has written the hash.
        if !isRead, let hash = found.user?.hash { own = read(hash, for: attempt) }
        return (own, costs)
    }

    /// Reads a hash; logs an error only if the hash belongs to the user of the login.
    private func read(_ hash: String, for attempt: LoginAttempt?) -> StoredPassword? {
        do throws(BadHash) {
            return try StoredPassword(hash)
        } catch {
            if let name = attempt?.username {
                realm.log("realm \(realm.name): the password of \(name) cannot be read: \(error)", .error)
            }
            return nil
        }
    }
}

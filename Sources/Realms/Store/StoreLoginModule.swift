// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
public import RealmKit
internal import Store

/// Checks a name and a password against the embedded store.
///
/// Whoever asks, and whoever is asked for, the store is asked the same questions and the same hashes are computed: unknown,
/// disabled, expired and wrong cannot be told apart by time. Options: those of ``FirstPass``.
public struct StoreLoginModule: PasswordLoginModule {
    /// How this module shares a password with its neighbours.
    public let firstPass: FirstPass
    private let realm: StoreRealm

    /// Makes the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: Whose users it checks.
    ///   - options: `tryFirstPass`, `useFirstPass`, `storePass`, `clearPass`.
    /// - Throws: ``BadModule`` never in practice.
    public init(realm: StoreRealm, options: ModuleOptions) throws(BadModule) {
        self.realm = realm
        firstPass = try FirstPass(options)
    }

    /// Yes if there is such a user, who may sign in, and whose password it is.
    public func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        let found: StoredLogin
        do throws(StoreFault) {
            found = try await realm.store.login(attempt.username, in: realm.name)
        } catch {
            throw .unavailable(error.description)
        }
        let (stored, costs) = read(found, attempt)
        let isRight = try await realm.passwords.check(password, against: stored, costs: costs, attempt)
        guard let user = found.user else { return .failed(.unknownUser) }
        guard isRight, let stored else { return .failed(.wrongCredentials) }
        guard user.record.isEnabled else { return .failed(.disabled) }
        if let expiry = user.record.expiry, expiry <= realm.clock.seconds { return .failed(.accountExpired) }
        guard !user.record.mustChangePassword else { return .failed(.credentialExpired) }
        if realm.rehashes, !realm.store.isReadOnly, realm.passwords.policy.wantsRehash(of: stored.hash) {
            attempt.updateShared { shared in
                shared[oldHash] = .text(stored.text)
                shared[rightPassword] = .secret(password)
            }
        }
        return attempt.commit(as: user.record.name, groups: found.groups)
    }

    /// Keeps the password in the format of new ones, if it is in a weaker one.
    ///
    /// Not sooner: where the stack as a whole refuses, as for an account that is locked, the time must not tell that the
    /// password was right. That it could not be done is no reason to refuse anybody.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        let shared = attempt.shared
        firstPass.cleanUp(attempt)
        guard attempt.succeeded else { return .ignored }
        guard let old = shared.text(oldHash), let password = shared.secret(rightPassword) else { return .done }
        do {
            var changes = UserChanges()
            changes.hash = try await realm.passwords.hash(password)
            changes.replacing = old
            try await realm.change(attempt.username, changes)
        } catch {
            realm.log("realm \(realm.name): the password of \(attempt.username) was not hashed anew: \(error)", .notice)
        }
        return .done
    }

    private var oldHash: SharedState.Key { SharedState.Key("gatehouse.store.\(realm.name).hash") }
    private var rightPassword: SharedState.Key { SharedState.Key("gatehouse.store.\(realm.name).password") }

    /// The user's password, and a decoy of every cost.
    ///
    /// Of each cost one hash is read, the user's where it is theirs and anybody's where it is not: reading one takes some
    /// hundredths of the time of a cheap check, which would tell who there is.
    private func read(
        _ found: StoredLogin,
        _ attempt: LoginAttempt
    ) -> (stored: StoredPassword?, costs: [any PasswordHash]) {
        var own: StoredPassword?
        var costs: [any PasswordHash] = []
        var isRead = found.user?.hash == nil
        for (cost, hash) in found.costs {
            let isOwn = !isRead && cost == found.user?.record.format
            if isOwn { isRead = true }
            let stored = read(isOwn ? found.user?.hash ?? hash : hash, isOwn ? attempt : nil)
            if isOwn { own = stored }
            if let decoy = (stored ?? (isOwn ? read(hash, nil) : nil))?.hash.decoy { costs.append(decoy) }
        }
        // A cost that the store does not know of: somebody else has written there.
        if !isRead, let hash = found.user?.hash { own = read(hash, attempt) }
        return (own, costs)
    }

    /// Reads a hash; that it cannot be read is told of when it is its user's turn.
    private func read(_ hash: String, _ attempt: LoginAttempt?) -> StoredPassword? {
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

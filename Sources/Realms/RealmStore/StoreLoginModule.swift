// SPDX-License-Identifier: Apache-2.0

internal import Passwords
package import RealmKit
internal import Store

/// Checks names and passwords against the embedded store.
///
/// Every login runs the same queries and computes one hash of each cost. The time of a rejected login therefore does
/// not reveal the reason, such as an unknown user, a disabled user or a wrong password. The options are those of
/// ``FirstPass``.
package struct StoreLoginModule: PasswordLoginModule {
    package let firstPass: FirstPass
    private let realm: StoreRealm

    package init(realm: StoreRealm, options: ModuleOptions) throws(BadModule) {
        self.realm = realm
        firstPass = try FirstPass(options)
    }

    /// Succeeds if the user exists and may sign in, and the password matches.
    ///
    /// A user who must change the password is asked for a new one; HTTP Basic has no answer to that.
    package func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        let found: StoredLogin
        do throws(StoreFault) {
            found = try await realm.store.login(try await realm.storedName(of: attempt.username), in: realm.name)
        } catch {
            throw .unavailable(error.description)
        }
        let (stored, hashPerCost) = parse(found, for: attempt)
        realm.warn(about: hashPerCost.map(\.cost))
        let isCorrect = try await realm.passwords.check(
            password,
            against: stored,
            hashPerCost: hashPerCost,
            for: attempt
        )
        guard let user = found.user else { return .failed(.unknownUser) }
        guard isCorrect, let stored else { return .failed(.wrongCredentials) }
        guard user.record.isEnabled else { return .failed(.disabled) }
        if let expiry = user.record.expiry, expiry <= realm.clock.seconds { return .failed(.accountExpired) }
        let mustChange = user.record.mustChangePassword
        let policy = realm.passwords.policy
        let needsRehash = policy.needsRehash(of: stored.hash) && policy.covers(password)
        if mustChange || realm.rehashes && !realm.store.isReadOnly && needsRehash {
            attempt.updateShared { shared in
                shared[oldHashKey] = .text(stored.text)
                shared[passwordKey] = .secret(password)
                shared[changeKey] = mustChange ? .text("yes") : nil
            }
        } else if stored.hash.ignoresPart(of: password) {
            // Only the beginning of the password was checked, and the hash cannot be replaced by one of the whole one.
            return .failed(.unusableCredential)
        }
        return attempt.commit(as: user.record.name, groups: found.groups, attributes: found.attributes)
    }

    private func newHash(_ attempt: LoginAttempt, instead old: Secret) async throws(LoginFault) -> String {
        var hash: String?
        _ = try await attempt.newPassword(instead: old) { new throws(LoginFault) in
            if let reason = realm.rules.refusal(of: new) { return reason }
            do throws(LoginFault) {
                hash = try await realm.passwords.hash(new)
                return nil
            } catch {
                guard error.kind == .unusableCredential else { throw error }
                return "The new password cannot be used."
            }
        }
        guard let hash else { throw LoginFault(.credentialExpired, log: "the password must be changed") }
        return hash
    }

    /// Asks for a new password if it must be changed, and stores it; or stores a stronger hash of the password.
    ///
    /// This is done in the commit phase, which runs only if the stack accepts the login. Otherwise the question, or the
    /// longer time of a rejected login, would reveal that the password was correct.
    ///
    /// If a weak hash cannot be replaced, the login still succeeds; if a new password cannot be stored, it fails.
    package func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        let shared = attempt.shared
        firstPass.cleanUp(attempt)
        guard attempt.succeeded else { return .ignored }
        guard let old = shared.text(oldHashKey), let password = shared.secret(passwordKey) else { return .done }
        if shared.text(changeKey) != nil {
            let new = try await newHash(attempt, instead: password)
            do throws(RealmError) {
                try await realm.replacePassword(with: new, of: attempt.username, instead: old)
                return .done
            } catch {
                realm.log(
                    "realm \(realm.name): the new password of \(attempt.username) was not stored: \(error)",
                    .error
                )
                throw .unavailable("the new password was not stored: \(error)")
            }
        }
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
    private var changeKey: SharedState.Key { SharedState.Key("gatehouse.store.\(realm.name).change") }
    private var passwordKey: SharedState.Key { SharedState.Key("gatehouse.store.\(realm.name).password") }

    /// Returns the user's stored password, and a decoy for each cost in the realm.
    ///
    /// Exactly one hash of each cost is parsed, the user's own or that of another user. Parsing takes a few percent of
    /// the time of a cheap check: if the number of parsed hashes depended on the user, the response time would reveal
    /// which users exist.
    private func parse(
        _ found: StoredLogin,
        for attempt: LoginAttempt
    ) -> (stored: StoredPassword?, hashPerCost: [PasswordHash]) {
        var own: StoredPassword?
        var hashPerCost: [PasswordHash] = []
        // True if the user's own hash was parsed, or does not exist.
        var isParsed = found.user?.hash == nil
        for (cost, hash) in found.costs {
            let isOwn = !isParsed && cost == found.user?.record.format
            if isOwn { isParsed = true }
            let stored = parse(isOwn ? found.user?.hash ?? hash : hash, for: isOwn ? attempt : nil)
            if isOwn { own = stored }
            if let decoy = (stored ?? (isOwn ? parse(hash, for: nil) : nil))?.hash.decoy { hashPerCost.append(decoy) }
        }
        // If another program has stored the user's hash without its cost, the loop has not parsed the hash.
        if !isParsed, let hash = found.user?.hash { own = parse(hash, for: attempt) }
        return (own, hashPerCost)
    }

    /// Parses a hash; logs an error if `attempt` is not nil, which means that the hash is the user's own.
    private func parse(_ hash: String, for attempt: LoginAttempt?) -> StoredPassword? {
        do throws(BadHash) {
            let stored = try StoredPassword(hash, options: realm.formatOptions)
            if attempt != nil, let fault = realm.passwords.limitFault(stored.hash.cost) { throw BadHash(fault) }
            return stored
        } catch {
            if let name = attempt?.username {
                realm.log("realm \(realm.name): the password of \(name) cannot be read: \(error)", .error)
            }
            return nil
        }
    }
}

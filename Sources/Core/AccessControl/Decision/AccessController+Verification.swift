// SPDX-License-Identifier: Apache-2.0

package import RealmKit
package import Sessions

/// A name and a password that a program without HTTP has to check.
package struct ProgramLogin: Sendable {
    package let username: Username
    package let password: Secret
    package let realms: [String]
    package let whenUnavailable: WhenUnavailable
    package let service: String
    package let address: String?

    package init(
        username: Username,
        password: Secret,
        realms: [String],
        whenUnavailable: WhenUnavailable,
        service: String,
        address: String?
    ) {
        (self.username, self.password, self.realms) = (username, password, realms)
        (self.whenUnavailable, self.service, self.address) = (whenUnavailable, service, address)
    }
}

extension AccessController {
    /// Returns the key of a login in the credential cache; nil if the cache is turned off.
    package func cacheKey(of login: ProgramLogin) -> CredentialCache.Key? {
        credentialCache.key(
            realms: RealmField(login.realms, login.whenUnavailable),
            peer: login.address,
            certificate: nil,
            credentials: .login(login.username, login.password, service: login.service)
        )
    }

    /// Returns the user whose credentials are cached.
    package func cachedUser(for key: CredentialCache.Key) -> SignedInUser? {
        credentialCache.entry(for: key, at: clock.now)?.user
    }

    /// Logs the user in; unavailable if a realm does not exist.
    package func complete(
        _ login: ProgramLogin,
        asking conversation: any Conversation
    ) async -> MultiRealmLoginReport.Outcome {
        await authenticator.outcome(
            as: login.username,
            inFirstOf: login.realms,
            whenUnavailable: login.whenUnavailable,
            service: login.service,
            address: login.address,
            asking: conversation
        )
    }

    /// True if no module of the realms can wait or ask for anything.
    package func isImmediate(_ realms: [String]) -> Bool {
        realms.allSatisfy { authenticator.realms[$0]?.stack.isImmediate ?? false }
    }

    /// The status of a user whose login took as long as the user wanted.
    package enum LateStatus: Sendable {
        case unchanged
        case changed
        case unknown
    }

    /// Returns whether a user, or the realm of the user, has changed since a login began, as at the beginning of a session.
    ///
    /// The epoch was read before the login, and the authenticator is the one that the login used.
    package func status(
        of identity: AuthenticatedIdentity,
        since epoch: RevocationEpoch,
        of before: Authenticator,
        refresher: RealmRefresher
    ) async -> LateStatus {
        guard let realm = authenticator.realms[identity.realm], let old = before.realms[identity.realm],
            realm.hasSameConfiguration(as: old)
        else { return .changed }
        switch await SessionValidator(authenticator: authenticator).state(of: identity.username, in: realm) {
        case .present: break
        case .gone: return .changed
        case .unknown: return .unknown
        }
        // All changes up to now are applied, so that they are found below.
        guard await refresher.refresh(identity.realm),
            let hasChanged = try? sessions.hasEndedSessions(of: SignedInUser(identity), since: epoch)
        else { return .unknown }
        return hasChanged ? .changed : .unchanged
    }
}

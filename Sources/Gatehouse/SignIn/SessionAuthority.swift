// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Logging
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// Keeps sessions true to realms: those of users who are gone or others now end, at a restart and at a reload as in between.
struct SessionAuthority: Sendable {
    let authenticator: Authenticator

    /// What is known of a user who was accepted before.
    ///
    /// - Parameter user: The user.
    /// - Returns: What the user's realm says, or that there is none.
    func standing(of user: SignedInUser) async -> UserStanding {
        guard let realm = authenticator.realms[user.realm]?.realm else { return .realmGone }
        guard let realm = realm as? any RefreshingRealm else { return .user(.unknown) }
        return .user(await realm.state(of: user.username))
    }
}

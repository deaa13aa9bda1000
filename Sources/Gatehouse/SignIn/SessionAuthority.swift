// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Logging
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// Keeps sessions true to realms: those of users who are gone or others now end, at a restart and at a reload as in between.
struct SessionAuthority: Sendable {
    let authenticator: Authenticator

    /// What a user's realm says of one who was accepted before.
    ///
    /// - Parameter user: The user.
    /// - Returns: What the realm knows; nil if there is no such realm.
    func state(of user: SignedInUser) async -> UserState? {
        guard let realm = authenticator.realms[user.realm]?.realm else { return nil }
        guard let realm = realm as? any RefreshingRealm else { return .unknown }
        return await realm.state(of: user.username)
    }
}

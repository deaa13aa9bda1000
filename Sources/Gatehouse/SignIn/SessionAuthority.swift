// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import RealmKit
internal import Sessions

/// Keeps sessions true to realms: those of users who are gone or others now end, at a restart and at a reload as in between.
struct SessionAuthority: Sendable {
    let authenticator: Authenticator

    /// What is known of a user who was accepted before.
    ///
    /// - Parameter user: The user.
    /// - Returns: What the user's realm and realms.conf say, or that there is no such realm.
    func standing(of user: SignedInUser) async -> UserStanding {
        guard let realm = authenticator.realms[user.realm] else { return .realmGone }
        return .user(await state(of: user.username, in: realm))
    }

    /// What decides about a user: what the realm says, and what realms.conf says of the realm.
    func state(of user: Username, in realm: BoundRealm) async -> UserState {
        var known: UserStamp?
        if let realm = realm.realm as? any RefreshingRealm {
            switch await realm.state(of: user) {
            case .gone: return .gone
            case .present(let stamp): known = stamp
            // It cannot tell now, or never can: the next time it may.
            case .unknown where realm is any ManagedRealm: return .unknown
            case .unknown: break
            }
        }
        do throws(OpenSSLError) {
            let digits = known?.bytes.map { String($0, radix: 16) }.joined(separator: ".") ?? ""
            let digest = try Digest.sha256(fields: [digits] + realm.rulebook)
            return .present(UserStamp(digest.bytes, expiry: known?.expiry))
        } catch {
            // Then nobody can be told from anybody, and sessions end.
            return .unknown
        }
    }
}

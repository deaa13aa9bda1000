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
        var known: [UInt8] = []
        if let realm = realm.realm as? any RefreshingRealm {
            switch await realm.state(of: user) {
            case .gone: return .gone
            case .present(let stamp): known = stamp.bytes
            case .unknown: break
            }
        }
        do throws(OpenSSLError) {
            let digits = known.map { String($0, radix: 16) }.joined(separator: ".")
            return .present(UserStamp(try Digest.sha256(fields: [digits] + realm.rulebook).bytes))
        } catch {
            // Then nobody can be told from anybody, and sessions end.
            return .unknown
        }
    }
}

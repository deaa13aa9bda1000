// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
package import RealmKit
package import Sessions

/// Determines the current status of the users of sessions.
///
/// The sessions of deleted or changed users end, also if the change was made before a restart or reload.
package struct SessionValidator: Sendable {
    private let authenticator: Authenticator

    /// A validator.
    ///
    /// - Parameter authenticator: The authenticator, which has the realms.
    package init(authenticator: Authenticator) { self.authenticator = authenticator }

    /// Returns the status of a previously authenticated user.
    ///
    /// - Parameter user: The user.
    /// - Returns: The user's state by the realm and realms.conf, or that the realm no longer exists.
    package func status(of user: SignedInUser) async -> UserStatus {
        guard let realm = authenticator.realms[user.realm] else { return .realmGone }
        return .user(await state(of: user.username, in: realm))
    }

    /// Returns the state of a user, by the realm's data and the realm's settings in realms.conf.
    package func state(of user: Username, in realm: BoundRealm) async -> UserState {
        var known: SecurityStamp?
        if let realm = realm.realm as? any RefreshingRealm {
            switch await realm.state(of: user) {
            case .gone: return .gone
            case .present(let stamp): known = stamp
            // A managed realm may know the state at the next check.
            case .unknown where realm is any ManagedRealm: return .unknown
            case .unknown: break
            }
        }
        do throws(OpenSSLError) {
            let digits = known?.bytes.map { String($0, radix: 16) }.joined(separator: ".") ?? ""
            let digest = try Digest.sha256(fields: [digits] + realm.fingerprint)
            return .present(SecurityStamp(digest.bytes, expiry: known?.expiry))
        } catch {
            // Without a digest the stamp cannot be compared with that of a session. A session to restore ends then.
            return .unknown
        }
    }
}

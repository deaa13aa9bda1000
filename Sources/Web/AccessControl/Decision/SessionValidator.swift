// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
package import RealmKit
package import Sessions

/// Determines the current status of users of existing sessions.
///
/// The server compares the stored sessions with this status after a restart or reload, so it also finds changes that
/// were made before the restart or reload.
package struct SessionValidator: Sendable {
    private let authenticator: Authenticator

    /// A validator.
    ///
    /// - Parameter authenticator: The authenticator that has the realms.
    package init(authenticator: Authenticator) { self.authenticator = authenticator }

    /// Returns the status of a previously authenticated user.
    ///
    /// - Parameter user: The user.
    /// - Returns: The state of the user, or `realmGone` if the realm no longer exists.
    package func status(of user: SignedInUser) async -> UserStatus {
        guard let realm = authenticator.realms[user.realm] else { return .realmGone }
        return .user(await state(of: user.username, in: realm))
    }

    /// Returns the state of a user.
    ///
    /// The stamp depends on the data of the user and on the settings of the realm in realms.conf.
    package func state(of user: Username, in realm: BoundRealm) async -> UserState {
        var known: SecurityStamp?
        if let realm = realm.realm as? any RefreshingRealm {
            switch await realm.state(of: user) {
            case .gone: return .gone
            case .present(let stamp): known = stamp
            // A managed realm, a realm that uses one, or a realm that asks another system may be able to read the state
            // later. Until then, the state is unknown.
            case .unknown
            where realm is any ManagedRealm || realm is any NamingRealm || type(of: realm).dependsOnOtherSystems:
                return .unknown
            case .unknown: break
            }
        }
        do throws(OpenSSLError) {
            let digits = known?.bytes.map { String($0, radix: 16) }.joined(separator: ".") ?? ""
            let digest = try Digest.sha256(fields: [digits] + realm.fingerprint)
            return .present(SecurityStamp(digest.bytes, expiry: known?.expiry))
        } catch {
            // Without a digest, the stamp cannot be compared, so a restore ends the session.
            return .unknown
        }
    }
}

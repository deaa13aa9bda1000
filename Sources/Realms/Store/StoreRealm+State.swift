// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
public import RealmKit
internal import Store

extension StoreRealm {
    /// Whether the user may sign in, by a stamp over hash, groups and end; unknown while the store cannot be read.
    public func state(of user: Username) async -> UserState {
        let stored: StoredUser?
        do throws(StoreFault) {
            stored = try await store.user(user, in: name)
        } catch {
            log("realm \(name): \(error)", .error)
            return .unknown
        }
        guard let stored, let hash = stored.hash, stored.record.isEnabled, !stored.record.mustChangePassword,
            stored.record.expiry.map({ clock.seconds < $0 }) ?? true
        else { return .gone }
        let end = stored.record.expiry.map { "\($0)" } ?? ""
        do throws(OpenSSLError) {
            // The class stands first: a realm of another one under this name is another realm.
            return .present(
                UserStamp(
                    try Digest.sha256(fields: ["StoreRealm", hash, end] + stored.record.groups).bytes,
                    expiry: stored.record.expiry
                )
            )
        } catch {
            log("realm \(name): \(error)", .error)
            return .unknown
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
public import RealmKit
internal import Store

extension StoreRealm {
    /// Returns whether the user may sign in, with a stamp of the hash, the groups, the attributes and the expiry.
    ///
    /// The state is unknown while the store cannot be read.
    public func state(of user: Username) async -> UserState {
        let stored: StoredUser?
        do throws(StoreFault) {
            stored = try await store.user(user, in: name)
        } catch {
            // A cancelled request is not an error of the store.
            if error.code != .cancelled { log("realm \(name): \(error)", .error) }
            return .unknown
        }
        guard let stored, let hash = stored.hash, stored.record.isEnabled, !stored.record.mustChangePassword,
            stored.record.expiry.map({ clock.seconds < $0 }) ?? true
        else { return .gone }
        let end = stored.record.expiry.map { "\($0)" } ?? ""
        // The name of a group never contains U+001F. A user without attributes has the same stamp as in earlier versions.
        let attributes = stored.record.attributes.flatMap { ["\u{1F}", $0.name] + $0.values }
        do throws(OpenSSLError) {
            // The stamp contains the class, so that sessions end if a realm of another class gets the same name.
            return .present(
                SecurityStamp(
                    try Digest.sha256(fields: ["StoreRealm", hash, end] + stored.record.groups + attributes).bytes,
                    expiry: stored.record.expiry
                )
            )
        } catch {
            log("realm \(name): \(error)", .error)
            return .unknown
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import Passwords
public import RealmKit
internal import Synchronization

extension FileRealm {
    /// Whether the user may sign in, by a stamp over hash and groups; unknown while the file cannot be used.
    public func state(of user: Username) async -> UserState {
        await files.look()
        let (table, fault) = files.state.withLock { ($0.version.table, $0.fault) }
        guard fault == nil else { return .unknown }
        guard let known = table[user], known.usablePassword != nil else { return .gone }
        do throws(OpenSSLError) {
            // The class stands first: a realm of another one under this name is another realm.
            return .present(UserStamp(try Digest.sha256(fields: ["FileRealm", known.stored] + known.groups).bytes))
        } catch {
            files.log?("\(files.paths.file): \(error)", .error)
            return .unknown
        }
    }
}

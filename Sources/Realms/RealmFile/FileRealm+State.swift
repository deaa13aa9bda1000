// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
internal import Passwords
public import RealmKit
internal import Synchronization

extension FileRealm {
    /// Returns whether the user may sign in, with a stamp of the hash, the groups and the attributes.
    ///
    /// The state is unknown while the file cannot be used.
    public func state(of user: Username) async -> UserState {
        await files.reload()
        let (table, fault) = files.state.withLock { ($0.version.table, $0.fault) }
        guard fault == nil else { return .unknown }
        guard let known = table[user], known.usablePassword != nil else { return .gone }
        do throws(OpenSSLError) {
            // The stamp contains the class, so that sessions end if a realm of another class gets the same name.
            // No name of a group is U+001F. A user without attributes has the same stamp as in earlier versions.
            let attributes = known.attributes.flatMap { ["\u{1F}", $0.name] + $0.values }
            let fields = ["FileRealm", known.stored] + known.groups + attributes
            return .present(SecurityStamp(try Digest.sha256(fields: fields).bytes))
        } catch {
            files.log?("\(files.settings.file): \(error)", .error)
            return .unknown
        }
    }
}

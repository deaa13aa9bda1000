// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
internal import Bytes
internal import Synchronization
internal import WorkerThreads

/// A group of a directory.
struct DirectoryGroup: Sendable, Hashable {
    /// The distinguished name.
    let name: String
    /// A key that is equal for equal names.
    let key: UTF8Text
    /// The name of the group for rules; nil if it has none that can be used.
    let group: String?
}

/// The groups that contain a group, kept for a limited time.
///
/// The groups of users are not kept: they are read at each login.
final class GroupCache: Sendable {
    private struct Entry {
        let groups: [DirectoryGroup]
        let end: UInt64
    }

    private static let maximumEntries = 100_000

    private let time: UInt64
    private let entries = Mutex<[UTF8Text: Entry]>([:])

    /// - Parameter time: The time for which a value is kept; zero to keep none.
    init(_ time: Duration) {
        self.time = time.nanoseconds
    }

    /// Returns the groups that contain a group; nil if they are not known, or not any more.
    func groups(of key: UTF8Text) -> [DirectoryGroup]? {
        guard time > 0 else { return nil }
        let now = MonotonicTime.now
        return entries.withLock { entries in
            guard let entry = entries[key] else { return nil }
            guard entry.end > now else {
                entries[key] = nil
                return nil
            }
            return entry.groups
        }
    }

    func insert(_ groups: [DirectoryGroup], of key: UTF8Text) {
        guard time > 0 else { return }
        let end = MonotonicTime.now &+ time
        entries.withLock { entries in
            if entries.count >= Self.maximumEntries { entries = [:] }
            entries[key] = Entry(groups: groups, end: end)
        }
    }
}
#endif

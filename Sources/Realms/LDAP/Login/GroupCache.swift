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
    /// Groups and the time at which they are read again, of `MonotonicTime`.
    struct Entry: Sendable {
        let groups: [DirectoryGroup]
        let end: UInt64
    }

    /// The groups of sets of groups; users are often in the same sets.
    private struct Sets {
        var entries: [UTF8Text: Entry] = [:]
        var groupCount = 0
    }

    private static let maximumEntries = 100_000

    private let time: UInt64
    private let entries = Mutex<[UTF8Text: Entry]>([:])
    private let sets = Mutex(Sets())

    /// - Parameter time: The time for which a value is kept; zero to keep none.
    init(_ time: Duration) {
        self.time = time.nanoseconds
    }

    /// Returns the groups that contain a group; nil if they are not known, or not any more.
    func groups(of key: UTF8Text) -> [DirectoryGroup]? { entry(of: key)?.groups }

    /// Returns the groups that contain a group, and their end; nil if they are not known, or not any more.
    func entry(of key: UTF8Text) -> Entry? {
        guard time > 0 else { return nil }
        let now = MonotonicTime.now
        return entries.withLock { entries in
            guard let entry = entries[key] else { return nil }
            guard entry.end > now else {
                entries[key] = nil
                return nil
            }
            return entry
        }
    }

    /// Keeps the groups that contain a group.
    ///
    /// - Parameters:
    ///   - groups: The groups, as they have just been read.
    ///   - key: The key of the group.
    /// - Returns: The time at which they are read again, of `MonotonicTime`.
    @discardableResult
    func insert(_ groups: [DirectoryGroup], of key: UTF8Text) -> UInt64 {
        let end = MonotonicTime.now &+ time
        guard time > 0 else { return end }
        entries.withLock { entries in
            if entries.count >= Self.maximumEntries { entries = [:] }
            entries[key] = Entry(groups: groups, end: end)
        }
        return end
    }

    /// Returns a set of groups with all groups that contain them; nil if they are not known, or not any more.
    func all(of set: UTF8Text) -> [DirectoryGroup]? {
        guard time > 0 else { return nil }
        let now = MonotonicTime.now
        return sets.withLock { sets in
            guard let entry = sets.entries[set], entry.end > now else { return nil }
            return entry.groups
        }
    }

    /// Keeps a set of groups with all groups that contain them, until the first of their parts is read again.
    func insert(all groups: [DirectoryGroup], of set: UTF8Text, until end: UInt64) {
        guard time > 0, groups.count <= Self.maximumEntries else { return }
        sets.withLock { sets in
            sets.groupCount -= sets.entries.removeValue(forKey: set)?.groups.count ?? 0
            if sets.groupCount + groups.count > Self.maximumEntries { sets = Sets() }
            sets.entries[set] = Entry(groups: groups, end: end)
            sets.groupCount += groups.count
        }
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import Synchronization
internal import Workers

/// The groups that contain a group, kept for a limited time.
///
/// The groups of users are not kept: they are read at each login.
final class GroupCache: Sendable {
    /// Groups and the time at which they are read again, of `MonotonicTime`.
    struct Entry: Sendable {
        let groups: [DirectoryGroup]
        let end: UInt64
    }

    private struct Keys {
        var table: [UTF8Text: UTF8Text] = [:]
        /// In bytes.
        var size = 0
    }

    private static let maximumEntries = 100_000
    /// The maximum size of the keys of names, in bytes.
    private static let maximumKeySize = 32 << 20

    private let time: UInt64
    private let now: @Sendable () -> UInt64
    /// The time before which no renewal begins; the last of all times while one runs.
    private let nextRenewal = Mutex(UInt64.zero)
    private let entries = Mutex<[UTF8Text: Entry]>([:])
    private let keys = Mutex(Keys())

    /// Creates a cache that keeps values for a time; zero to keep none.
    init(_ time: Duration, now: @escaping @Sendable () -> UInt64 = { MonotonicTime.now }) {
        self.time = time.nanoseconds
        self.now = now
    }

    // MARK: Renewal

    /// Returns whether an entry is in the second half of its time, in which it is read again ahead of need.
    func isDue(_ entry: Entry) -> Bool { time > 0 && entry.end < now() &+ time / 2 }

    /// Returns whether the caller may renew entries now; it must call ``endRenewal(hasFailed:)`` at the end.
    func beginRenewal() -> Bool {
        let now = now()
        return nextRenewal.withLock { next in
            guard next <= now else { return false }
            next = .max
            return true
        }
    }

    /// Allows the next renewal; after a failure only later, because each login would begin another one.
    func endRenewal(hasFailed: Bool) {
        let next = hasFailed ? now() &+ time / 4 : 0
        nextRenewal.withLock { $0 = next }
    }

    // MARK: Keys

    /// Returns the canonical form of a distinguished name; for another text, one that no name has.
    ///
    /// Reading a name takes much longer than finding its key here, which depends on nothing but the name.
    func key(of name: String) -> UTF8Text {
        let text = UTF8Text(name)
        if let known = keys.withLock({ $0.table[text] }) { return known }
        let key = UTF8Text(DistinguishedName(name)?.key ?? LDAPText.nameValue(name.utf8))
        // With the memory that a table needs beside the texts.
        let size = name.utf8.count + key.string.utf8.count + 128
        guard size <= Self.maximumKeySize else { return key }
        keys.withLock { keys in
            if keys.size + size > Self.maximumKeySize { keys = Keys() }
            if keys.table.updateValue(key, forKey: text) == nil { keys.size += size }
        }
        return key
    }

    // MARK: Entries

    /// Returns the groups that contain a group; nil if they are not known, or not any more.
    func groups(of key: UTF8Text) -> [DirectoryGroup]? { entry(of: key)?.groups }

    func entry(of key: UTF8Text) -> Entry? {
        guard time > 0 else { return nil }
        let now = now()
        return entries.withLock { entries in
            guard let entry = entries[key] else { return nil }
            guard entry.end > now else {
                entries[key] = nil
                return nil
            }
            return entry
        }
    }

    /// Keeps the groups that contain a group, which have just been read, and returns the time at which they are read
    /// again.
    @discardableResult
    func insert(_ groups: [DirectoryGroup], of key: UTF8Text) -> UInt64 {
        let end = now() &+ time
        guard time > 0 else { return end }
        entries.withLock { entries in
            if entries.count >= Self.maximumEntries { entries = [:] }
            entries[key] = Entry(groups: groups, end: end)
        }
        return end
    }
}
#endif

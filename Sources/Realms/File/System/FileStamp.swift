// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What tells one state of a file from another without reading it.
struct FileStamp: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64
    let size: Int
    /// Nanoseconds since 1970.
    let modified: Int
    /// Nanoseconds since 1970; unlike ``modified`` it cannot be set back.
    let changed: Int

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int(status.st_size)
        #if canImport(Darwin)
        modified = Self.nanoseconds(status.st_mtimespec)
        changed = Self.nanoseconds(status.st_ctimespec)
        #else
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
        #endif
    }

    /// The state of a file now, links followed; nil if it is not there or cannot be seen.
    init?(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether the file was changed so shortly before a moment that a further change might leave the same stamp.
    func isFresh(at now: Int) -> Bool {
        [modified, changed].contains { ($0 &- now).magnitude < Self.settling.magnitude }
    }

    /// How long a file must have rested to be taken for complete, and for told by its stamp: 1 s, in nanoseconds.
    static let settling = 1_000_000_000

    private static func nanoseconds(_ time: timespec) -> Int {
        Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
    }

    /// Nanoseconds since 1970, now.
    static func systemNow() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }
}

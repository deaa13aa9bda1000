// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

/// The identity, size and times of a file, which show a change without reading it.
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
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    /// Creates the stamp of a file now, links followed; nil if it does not exist or is not accessible.
    init?(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Returns whether the file was changed so recently that a further change might leave the same stamp.
    func isFresh(at now: Int) -> Bool {
        [modified, changed].contains { ($0 &- now).magnitude < Self.settling.magnitude }
    }

    /// The time without a change after which a file counts as complete and its stamp as reliable: 1 s, in nanoseconds.
    static let settling = 1_000_000_000

    private static func nanoseconds(_ time: timespec) -> Int {
        Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
    }

    /// Returns the nanoseconds since 1970.
    static func systemNow() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }
}

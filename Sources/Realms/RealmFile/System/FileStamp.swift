// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The identity, size and times of a file.
///
/// A comparison of two stamps shows whether the file has changed, without reading it.
struct FileStamp: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64
    let size: Int
    /// The time of the last change of the contents, in nanoseconds since 1970.
    let modified: Int
    /// The time of the last change of the file (ctime), in nanoseconds since 1970.
    ///
    /// Unlike ``modified``, this time cannot be set by a program.
    let changed: Int

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int(status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    /// Creates the current stamp of a file; nil if the file does not exist or is not accessible.
    ///
    /// Links are followed.
    init?(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Returns whether the file was changed so recently that its stamp may stay the same after another change.
    func isUnsettled(at now: Int) -> Bool {
        [modified, changed].contains { ($0 &- now).magnitude < Self.settlingTime.magnitude }
    }

    /// The time without a change after which a file is complete and its stamp is reliable: 1 second, in nanoseconds.
    static let settlingTime = 1_000_000_000

    private static func nanoseconds(_ time: timespec) -> Int {
        Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
    }

    /// Returns the current time, in nanoseconds since 1970.
    static func systemNow() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }
}

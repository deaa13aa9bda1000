// SPDX-License-Identifier: Apache-2.0

package import LibC

/// The owner, the mode, the size and the times of a file, as the system returns them.
package struct FileStatus: Sendable {
    package let identity: FileIdentity
    package let size: Int
    package let owner: uid_t
    package let group: gid_t
    package let linkCount: Int
    /// The kind, the permissions, and the special bits.
    let kindAndMode: mode_t
    package let stamp: FileStamp

    init(_ status: stat) {
        (identity, size) = (FileIdentity(status), Int(status.st_size))
        (owner, group, linkCount) = (status.st_uid, status.st_gid, Int(status.st_nlink))
        kindAndMode = status.st_mode
        stamp = FileStamp(status)
    }

    /// The status of what a path leads to, behind symbolic links.
    package init(of path: String) throws(SystemError) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .last }
        self.init(status)
    }

    /// The status of a file or of a symbolic link.
    package init(ofLink path: String) throws(SystemError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw .last }
        self.init(status)
    }

    private var kind: mode_t { kindAndMode & S_IFMT }
    package var isRegular: Bool { kind == S_IFREG }
    package var isFolder: Bool { kind == S_IFDIR }
    package var isLink: Bool { kind == S_IFLNK }

    /// The permissions and the special bits.
    package var mode: mode_t { kindAndMode & 0o7777 }
}

/// The identity of a file, independent of its name.
package struct FileIdentity: Sendable, Hashable {
    package let device: dev_t
    private let number: ino_t

    init(_ status: stat) { (device, number) = (status.st_dev, status.st_ino) }
}

/// The identity, size and times of a file, which show whether it has changed without reading it.
package struct FileStamp: Sendable, Hashable {
    private let identity: FileIdentity
    private let size: Int
    /// The time of the last change of the contents, in nanoseconds since 1970.
    package let modified: Int
    /// The ctime in nanoseconds since 1970; unlike ``modified``, a program cannot set it.
    package let changed: Int

    init(_ status: stat) {
        (identity, size) = (FileIdentity(status), Int(status.st_size))
        #if canImport(Darwin)
        (modified, changed) = (Self.nanoseconds(status.st_mtimespec), Self.nanoseconds(status.st_ctimespec))
        #else
        (modified, changed) = (Self.nanoseconds(status.st_mtim), Self.nanoseconds(status.st_ctim))
        #endif
    }

    /// The stamp of a file, behind links; nil if it does not exist or is not accessible.
    package init?(of path: String) {
        guard let status = try? FileStatus(of: path) else { return nil }
        self = status.stamp
    }

    /// Returns whether the file was changed so recently that its stamp may stay the same after another change.
    package func isUnsettled(at now: Int) -> Bool {
        [modified, changed].contains { ($0 &- now).magnitude < Self.settlingTime.magnitude }
    }

    /// The time in nanoseconds without a change after which a file is complete and its stamp is reliable.
    package static let settlingTime = 1_000_000_000

    private static func nanoseconds(_ time: timespec) -> Int {
        Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
    }

    /// In nanoseconds since 1970.
    package static func systemNow() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }
}

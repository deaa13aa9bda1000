// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Glibc
internal import RealmKit

struct FileSnapshot: Sendable {
    /// 64 MiB.
    static let maximumSize = 64 << 20

    /// With links resolved.
    let path: String
    let bytes: [UInt8]
    let stamp: FileStamp
    let permissions: FilePermissions
    /// About the owner and the mode of the file and of the folders above it.
    let trustWarnings: [String]

    /// Reads a whole file; throws if every user of the machine may change it.
    init(reading name: String, as use: FileTrust.Use = .users) throws(FileFault) {
        guard let path = Self.resolve(name) else { throw .system(name) }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system(name) }
        defer { close(descriptor) }
        // The open descriptor is checked, so that the file cannot be replaced between the check and the read.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(name) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileFault("\(name): it is not a regular file") }
        self.path = path
        stamp = FileStamp(status)
        permissions = FilePermissions(status)
        trustWarnings = try FilePermissions.checkTrust(of: name, as: use, opened: status)
        bytes = try Self.bytes(of: descriptor, count: Int(status.st_size), name: name)
        var after = stat()
        guard unsafe fstat(descriptor, &after) == 0 else { throw .system(name) }
        // A file that was replaced during the read has lost its name, which changes its ctime, but not its contents.
        guard FileStamp(after) == stamp || after.st_nlink == 0 && FileStamp(after).modified == stamp.modified else {
            throw FileFault("\(name): it is being written")
        }
    }

    var folder: String { Self.split(path).folder }

    /// Returns the path with links resolved; nil, with errno set, if there is no such file.
    static func resolve(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let name = String(path[path.index(after: slash)...])
        return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
    }

    private static func bytes(of descriptor: Int32, count: Int, name: String) throws(FileFault) -> [UInt8] {
        guard count <= maximumSize else { throw FileFault("\(name): it is longer than \(maximumSize >> 20) MiB") }
        do throws(FileBytes.Fault) {
            return try FileBytes.read(descriptor, count: count)
        } catch {
            switch error {
            case .system(let number): throw FileFault(name, number: number)
            case .isBeingWritten: throw FileFault("\(name): it is being written")
            }
        }
    }
}

/// The identity, size and times of a file, which show whether it has changed without reading it.
struct FileStamp: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64
    let size: Int
    /// The time of the last change of the contents, in nanoseconds since 1970.
    let modified: Int
    /// The ctime in nanoseconds since 1970; unlike ``modified``, a program cannot set it.
    let changed: Int

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int(status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    /// The stamp of a file, behind links; nil if it does not exist or is not accessible.
    init?(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Returns whether the file was changed so recently that its stamp may stay the same after another change.
    func isUnsettled(at now: Int) -> Bool {
        [modified, changed].contains { ($0 &- now).magnitude < Self.settlingTime.magnitude }
    }

    /// The time in nanoseconds without a change after which a file is complete and its stamp is reliable.
    static let settlingTime = 1_000_000_000

    private static func nanoseconds(_ time: timespec) -> Int {
        Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
    }

    /// In nanoseconds since 1970.
    static func systemNow() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }
}

struct FilePermissions: Sendable, Hashable {
    let user: uid_t
    let group: gid_t
    let mode: mode_t

    init(_ status: stat) {
        user = status.st_uid
        group = status.st_gid
        mode = status.st_mode & 0o7777
    }

    /// Returns the path of a file with links resolved, and the file's permissions.
    static func locate(_ name: String) throws(FileFault) -> (path: String, permissions: FilePermissions) {
        var status = stat()
        guard let path = FileSnapshot.resolve(name), unsafe stat(path, &status) == 0 else { throw .system(name) }
        return (path, FilePermissions(status))
    }

    func isReplaceable(in folder: String) -> Bool {
        guard geteuid() == 0 || geteuid() == user else { return false }
        return unsafe faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0
    }

    /// Returns the warnings about other users who may change, replace or read a file; throws if every user may do so.
    @discardableResult
    static func checkTrust(of path: String, as use: FileTrust.Use, opened status: stat) throws(FileFault) -> [String] {
        let findings = FileTrust.findings(path, as: use, opened: status)
        if let error = findings.first(where: \.isError) { throw FileFault(error.text) }
        return findings.map(\.text)
    }
}

struct FileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// For the administrator, with the name of the file.
    let description: String

    init(_ description: String) { self.description = description }

    /// Calls `body`, and throws its error as `unavailable`.
    static func unavailable<Value>(_ body: () throws(FileFault) -> Value) throws(RealmError) -> Value {
        try Result(catching: body).mapError { RealmError.unavailable($0.description) }.get()
    }

    /// Creates an error with the system's text for errno.
    static func system(_ what: String) -> FileFault { FileFault(what, number: errno) }

    init(_ what: String, number: Int32) { description = "\(what): \(unsafe String(cString: strerror(number)))" }
}

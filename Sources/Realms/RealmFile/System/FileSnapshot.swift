// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import Glibc
internal import RealmKit

struct FileSnapshot: Sendable {
    /// 64 MiB.
    static let limit = 64 << 20

    /// With links resolved.
    let path: String
    let bytes: [UInt8]
    let stamp: FileStamp
    let permissions: FilePermissions
    /// About the owner and the mode of the file and of the folders above it.
    let trustWarnings: [String]

    /// Reads a whole file; throws if every user of the machine may change it.
    init(reading name: String, as use: FileTrust.Use = .users) throws(FileFault) {
        path = try FilePermissions.resolve(name)
        do throws(UnreadableFile) {
            let (file, status) = try OpenFile.regular(path)
            stamp = status.stamp
            permissions = FilePermissions(status)
            trustWarnings = try FileTrust.check(name, as: use, opened: status)
            bytes = try file.contents(of: status, limit: Self.limit)
            // A file that was replaced during the read has lost its name, which changes its ctime, but not its contents.
            let after = try SystemError.mapping(file.status(), to: UnreadableFile.system)
            guard after.stamp == stamp || after.linkCount == 0 && after.stamp.modified == stamp.modified else {
                throw UnreadableFile.beingWritten
            }
        } catch {
            throw FileFault(name, error)
        }
    }

    var folder: String { FilePath.split(path).folder }
}

struct FilePermissions: Sendable, Hashable {
    let user: uid_t
    let group: gid_t
    let mode: mode_t

    init(_ status: FileStatus) { (user, group, mode) = (status.owner, status.group, status.mode) }

    /// Returns the path of a file with links resolved.
    static func resolve(_ name: String) throws(FileFault) -> String {
        try SystemError.mapping(FilePath.resolve(name)) { FileFault(name, $0) }
    }

    func isReplaceable(in folder: String) -> Bool {
        guard geteuid() == 0 || geteuid() == user else { return false }
        return unsafe faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0
    }
}

extension FileFault {
    /// Calls `body`, and throws its error as `unavailable`.
    static func unavailable<Value>(_ body: () throws(FileFault) -> Value) throws(RealmError) -> Value {
        try Result(catching: body).mapError { RealmError.unavailable($0.description) }.get()
    }
}

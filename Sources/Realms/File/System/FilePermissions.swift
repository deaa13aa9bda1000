// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import Glibc

/// The owner, the group and the mode of a file.
struct FilePermissions: Sendable, Hashable {
    let user: uid_t
    let group: gid_t
    /// The permission bits of the mode.
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

    /// Returns whether this process may replace the file.
    func isReplaceable(in folder: String) -> Bool {
        guard geteuid() == 0 || geteuid() == user else { return false }
        return unsafe faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0
    }

    /// Throws if every user of the machine may change or replace a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - status: The status of the open file.
    /// - Throws: ``FileFault``.
    static func checkTrust(of path: String, opened status: stat) throws(FileFault) {
        if let finding = FileTrust.error(path, as: .users, opened: status) { throw FileFault(finding.text) }
    }
}

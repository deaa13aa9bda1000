// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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

    /// Throws if every user of the machine may change or replace the file.
    func checkTrust(of path: String) throws(FileFault) {
        guard mode & S_IWOTH == 0 else {
            throw FileFault("\(path): every user of this machine may write to it; chmod o-w \(path)")
        }
        let folder = FileSnapshot.split(path).folder
        var status = stat()
        guard unsafe stat(folder, &status) == 0 else { throw .system(folder) }
        guard status.st_mode & S_IWOTH == 0 || status.st_mode & S_ISVTX != 0 else {
            throw FileFault("\(path): every user of this machine may replace it; chmod o-w \(folder)")
        }
    }

    /// Returns warnings about the mode of a file of hashes or groups.
    func warnings(of path: String, containsHashes: Bool) -> [String] {
        var warnings: [String] = []
        if containsHashes, mode & S_IROTH != 0 {
            warnings.append("\(path): every user of this machine may read the password hashes; chmod o-r \(path)")
        }
        if mode & S_IWGRP != 0 {
            warnings.append("\(path): its group may write to it; chmod g-w \(path)")
        }
        return warnings
    }
}

// SPDX-License-Identifier: Apache-2.0

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

    /// Checks whether other users may change, replace or read a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - use: The kind of the file.
    ///   - status: The status of the open file.
    /// - Returns: The warnings.
    /// - Throws: ``FileFault`` if every user of the machine may change or replace it.
    @discardableResult
    static func checkTrust(
        of path: String,
        as use: FileTrust.Use,
        opened status: stat
    ) throws(FileFault) -> [String] {
        let findings = FileTrust.findings(path, as: use, opened: status)
        if let error = findings.first(where: \.isError) { throw FileFault(error.text) }
        return findings.map(\.text)
    }
}

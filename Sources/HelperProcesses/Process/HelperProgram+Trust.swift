// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

extension HelperProgram {
    /// Checks that a file is a program which only the administrator can change.
    ///
    /// The file must be regular and executable. It and all folders above it must belong to root or to the user of this
    /// program, and must not be writable by their group or by others; a folder with the sticky bit, such as /tmp, may be.
    ///
    /// - Parameter path: The path of the program.
    /// - Returns: The path with links resolved.
    /// - Throws: ``HelperFault`` with code `cannotStart` and the command that corrects the problem.
    package static func trustedPath(_ path: String) throws(HelperFault) -> String {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw HelperFault(.cannotStart, "\(path): the path of a helper program must be absolute")
        }
        guard let resolved = unsafe realpath(path, nil) else { throw .system(path) }
        defer { unsafe free(resolved) }
        let file = unsafe String(cString: resolved)
        var status = stat()
        guard unsafe stat(file, &status) == 0 else { throw .system(file) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw HelperFault(.cannotStart, "\(file): is not a regular file")
        }
        guard status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH) != 0 else {
            throw HelperFault(.cannotStart, "\(file): is not executable; chmod +x \(file)")
        }
        try checkOwner(status, of: file, isFolder: false)
        var folder = Array(file.utf8)
        while let slash = folder.lastIndex(of: UInt8(ascii: "/")) {
            folder.removeSubrange(max(slash, 1)...)
            let name = String(decoding: folder, as: UTF8.self)
            guard unsafe stat(name, &status) == 0 else { throw .system(name) }
            try checkOwner(status, of: name, isFolder: true)
            if slash == 0 { break }
        }
        return file
    }

    private static func checkOwner(_ status: stat, of path: String, isFolder: Bool) throws(HelperFault) {
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw HelperFault(
                .cannotStart,
                "\(path): belongs to another user, who could change it; chown root \(path)"
            )
        }
        let isSticky = isFolder && status.st_mode & S_ISVTX != 0
        guard isSticky || status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw HelperFault(.cannotStart, "\(path): users other than its owner may write to it; chmod go-w \(path)")
        }
    }
}

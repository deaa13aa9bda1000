// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Glibc

extension HelperProgram {
    /// Checks that a file is a program which only the administrator can change: see `FileTrust`.
    ///
    /// - Parameter path: The path of the program.
    /// - Returns: The absolute path with links resolved.
    /// - Throws: ``HelperFault`` with code `cannotStart` and the command that corrects the problem.
    package static func trustedPath(_ path: String) throws(HelperFault) -> String {
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
        if let finding = FileTrust.error(path, as: .program) { throw HelperFault(.cannotStart, finding.text) }
        return file
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

extension StateFolder {
    /// The reason why a missing folder cannot be created.
    package enum CreationFault: Equatable {
        /// No user can create the folder.
        case impossible(String)
        /// The user of this process cannot create the folder; another user may be able to.
        case notPermitted(String)
    }

    /// Returns why a missing folder cannot be created; nil if it exists, or can be created.
    ///
    /// Nothing is created.
    ///
    /// - Parameter path: The folder.
    /// - Returns: The reason, for administrators.
    package static func creationFault(of path: String) -> CreationFault? {
        var made = path.hasPrefix("/") ? "/" : "."
        var parts = path.split(separator: "/")[...]
        var status = stat()
        while let part = parts.first {
            let next = made.hasSuffix("/") ? "\(made)\(part)" : "\(made)/\(part)"
            guard unsafe stat(next, &status) == 0 else { break }
            made = next
            parts = parts.dropFirst()
        }
        guard !parts.isEmpty, let missing = parts.first else { return nil }
        // A file, a loop of links or a folder without the right to enter it ends the path that exists.
        let number = errno
        guard number == ENOENT else {
            let reason = "\(made)/\(missing): \(unsafe String(cString: strerror(number)))"
            return number == EACCES ? .notPermitted(reason) : .impossible(reason)
        }
        if let kernel = kernelFileSystem(of: made) {
            return .impossible("\(kernel) is a file system of the kernel")
        }
        // A link that leads nowhere is not a missing file.
        var link = stat()
        let next = made.hasSuffix("/") ? "\(made)\(missing)" : "\(made)/\(missing)"
        if unsafe lstat(next, &link) == 0 { return .impossible("\(next) is a link that leads nowhere") }
        guard unsafe faccessat(AT_FDCWD, made, W_OK | X_OK, AT_EACCESS) == 0 else {
            return .notPermitted("\(made): \(unsafe String(cString: strerror(errno)))")
        }
        return nil
    }

    /// Returns the file system of the kernel that contains a folder; nil if none does.
    ///
    /// For root, access(2) permits writing there.
    private static func kernelFileSystem(of path: String) -> String? {
        var (root, own, kernel) = (stat(), stat(), stat())
        guard unsafe stat("/", &root) == 0, unsafe stat(path, &own) == 0, own.st_dev != root.st_dev else { return nil }
        return ["/proc", "/sys"].first { unsafe stat($0, &kernel) == 0 && kernel.st_dev == own.st_dev }
    }
}

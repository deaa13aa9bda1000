// SPDX-License-Identifier: Apache-2.0

internal import LibC

extension StateFolder {
    package enum CreationFault: Equatable {
        /// No user can create the folder.
        case impossible(String)
        /// The user of this process cannot create the folder; another user may be able to.
        case notPermitted(String)
    }

    /// Returns why a missing folder cannot be created, for administrators, without creating it; nil if it can be.
    package static func creationFault(of path: String) -> CreationFault? {
        guard let (made, missing, error) = firstMissingPart(of: path) else { return nil }
        guard error.number == ENOENT else {
            let reason = "\(missing): \(error)"
            return error.number == EACCES ? .notPermitted(reason) : .impossible(reason)
        }
        if let kernel = kernelFileSystem(of: made) { return .impossible("\(kernel) is a file system of the kernel") }
        if isLink(missing) { return .impossible("\(missing) is a link that leads nowhere") }
        guard unsafe faccessat(AT_FDCWD, made, W_OK | X_OK, AT_EACCESS) == 0 else {
            return .notPermitted("\(made): \(SystemError.last)")
        }
        return nil
    }

    /// Returns the first part of a path that is a symbolic link and leads nowhere.
    ///
    /// Such a link is not a missing folder: the folder may be on a file system that is not mounted.
    package static func brokenLink(in path: String) -> String? {
        guard let (_, missing, error) = firstMissingPart(of: path), error.number == ENOENT, isLink(missing) else {
            return nil
        }
        return missing
    }

    /// Returns whether a path that leads nowhere is a link.
    private static func isLink(_ path: String) -> Bool { (try? FileStatus(ofLink: path)) != nil }

    /// Returns the last existing folder of a path, the path of the next part, and the error of stat(2) for it.
    ///
    /// A file, a loop of links or a folder without the right to enter it also ends the existing folders.
    private static func firstMissingPart(of path: String) -> (made: String, missing: String, error: SystemError)? {
        var made = path.hasPrefix("/") ? "/" : "."
        for part in path.split(separator: "/") {
            let next = made.hasSuffix("/") ? "\(made)\(part)" : "\(made)/\(part)"
            do throws(SystemError) { _ = try FileStatus(of: next) } catch { return (made, next, error) }
            made = next
        }
        return nil
    }

    /// Returns the file system of the kernel that contains a folder; access(2) permits root writing there.
    private static func kernelFileSystem(of path: String) -> String? {
        let device = { (path: String) in (try? FileStatus(of: path))?.identity.device }
        guard let root = device("/"), let own = device(path), own != root else { return nil }
        return ["/proc", "/sys"].first { device($0) == own }
    }
}

package enum FileOwner {
    /// Returns a sentence about a file or folder of another user, and how to run the command as that user.
    static func fault(_ path: String, _ owner: uid_t, isRoot: Bool = geteuid() == 0) -> String {
        guard let name = SystemAccount.name(owner) else {
            return "\(path) belongs to another user, with the number \(owner)"
        }
        let command = "runuser -u \(name) -- COMMAND"
        let advice = isRoot ? "that user: \(command)" : "that user, or as root: \(command)"
        return "\(path) belongs to the user \(name); run the command as \(advice)"
    }

    /// Returns the sentence about a file or folder that exists and belongs to another user; nil otherwise.
    package static func fault(of path: String) -> String? {
        guard let status = try? FileStatus(of: path), status.owner != geteuid() else { return nil }
        return fault(path, status.owner)
    }

    /// Returns what to do about an error number: a semicolon and a sentence; empty if it is not known.
    package static func advice(_ number: Int32, _ path: String) -> String {
        switch number {
        case EACCES, EPERM: fault(of: path).map { "; \($0)" } ?? ""
        case ENOSPC, EDQUOT: "; remove files there, or enlarge the file system"
        case EROFS: "; mount the file system writable, or set state in the server block to another folder"
        default: ""
        }
    }
}

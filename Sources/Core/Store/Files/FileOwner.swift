// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Glibc

/// The owner of a file or folder, for messages.
enum FileOwner {
    /// Returns a sentence about a file or folder of another user, and how to run the command as that user.
    ///
    /// - Parameters:
    ///   - path: The file or folder.
    ///   - owner: Its owner.
    ///   - isRoot: True if this process runs as root.
    /// - Returns: The sentence.
    static func fault(_ path: String, _ owner: uid_t, isRoot: Bool = geteuid() == 0) -> String {
        guard let name = SystemAccount.name(owner) else {
            return "\(path) belongs to another user, with the number \(owner)"
        }
        let command = "runuser -u \(name) -- COMMAND"
        let advice = isRoot ? "that user: \(command)" : "that user, or as root: \(command)"
        return "\(path) belongs to the user \(name); run the command as \(advice)"
    }

    /// Returns the sentence about a file or folder that exists and belongs to another user; nil otherwise.
    static func fault(of path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_uid != geteuid() else { return nil }
        return fault(path, status.st_uid)
    }

    /// Returns what to do about an error of the system: a semicolon and a sentence; empty if it is not known.
    ///
    /// - Parameters:
    ///   - number: The error number.
    ///   - path: The file or folder.
    /// - Returns: The sentence.
    static func advice(_ number: Int32, _ path: String) -> String {
        switch number {
        case EACCES, EPERM: fault(of: path).map { "; \($0)" } ?? ""
        case ENOSPC, EDQUOT: "; remove files there, or enlarge the file system"
        case EROFS: "; mount the file system writable, or set state in the server block to another folder"
        default: ""
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import Glibc

/// The owner of a file or folder, for messages.
enum FileOwner {
    /// Returns a sentence about a file or folder of another user; for root it says how to run the command as that user.
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
        let advice = isRoot ? "; run the command as that user: runuser -u \(name) -- COMMAND" : ""
        return "\(path) belongs to the user \(name)\(advice)"
    }
}

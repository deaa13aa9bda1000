// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
        guard let name = name(owner) else { return "\(path) belongs to another user, with the number \(owner)" }
        let advice = isRoot ? "; run the command as that user: runuser -u \(name) -- COMMAND" : ""
        return "\(path) belongs to the user \(name)\(advice)"
    }

    /// Returns the name of a user; nil if the system has no user of the number.
    private static func name(_ user: uid_t) -> String? {
        var entry = unsafe passwd()
        var found = unsafe UnsafeMutablePointer<passwd>?.none
        var buffer = [CChar](repeating: 0, count: 16_384)
        let result = unsafe getpwuid_r(user, &entry, &buffer, buffer.count, &found)
        guard result == 0, case .some = unsafe found, let name = unsafe entry.pw_name else { return nil }
        return unsafe String(cString: name)
    }
}

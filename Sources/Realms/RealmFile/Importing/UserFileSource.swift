// SPDX-License-Identifier: Apache-2.0

internal import Passwords
internal import RealmKit

/// The users of a file that was checked, read in parts for an import.
struct UserFileSource: UserSource {
    let count: Int
    let file: OpenedFile
    let reader: UserLineReader
    /// The lines of users that the check has rejected.
    let skippedLines: Set<Int>
    /// The digest of the contents that were checked.
    let digest: [UInt8]

    /// Reads the users again; throws at the end if the contents are not the contents that were checked.
    func read(_ body: ([NewUser]) throws(RealmError) -> Void) throws(RealmError) {
        var isContinued = false
        let digest = try file.read { part throws(RealmError) in
            var users: [NewUser] = []
            reader.format.read(part.bytes, lines: part.lines, isContinued: &isContinued) { line, parsed in
                guard case .user(let user) = parsed, !skippedLines.contains(line.number) else { return }
                if let new = newUser(user, in: part.bytes) { users.append(new) }
            }
            try body(users)
        }
        guard digest == self.digest else {
            throw .unavailable("\(file.name): the file was changed while its users were imported")
        }
    }

    private func newUser(_ line: UserLine, in bytes: [UInt8]) -> NewUser? {
        guard let user = reader.readWithoutPassword(line, in: bytes) else { return nil }
        let hash: String? =
            if PasswordFormats.isNoPassword(user.stored) || !user.isEnabled && !reader.canRead(user.stored) {
                nil
            } else {
                reader.format == .glassfish ? GlassFishPassword.portable(user.stored) : user.stored
            }
        return NewUser(user.record, hash: hash, place: "\(file.name):\(line.line.number)")
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Passwords
internal import RealmKit

struct UserLineReader: Sendable {
    let format: KeyFileFormat
    /// The groups of a group file; nil if the lines contain the groups.
    let groups: [UTF8Text: [String]]?
    let attributes: [UTF8Text: [UserAttribute]]
    let readOptions: ReadOptions
    /// The consequence of a hash that cannot be read, for messages.
    var consequence = "cannot sign in"

    /// Reads the user of a line, with the problems for the administrator; nil if the line is ignored.
    ///
    /// `known` is a password that need not be parsed again if its text is the same.
    func read(
        _ line: UserLine,
        in bytes: [UInt8],
        known: StoredPassword? = nil
    ) -> (user: FileUser?, problems: [String]) {
        var user: FileUser
        do throws(BadLine) {
            user = try readWithoutPassword(line, in: bytes)
        } catch {
            return (nil, [TextLine.ignored(error.description)])
        }
        var problems = user.groups.filter(\.hasLeadingOrTrailingBlank).map { group in
            "the group \(group.debugDescription) begins or ends with a blank, so it differs from the group without the blank"
        }
        do throws(BadHash) {
            user.password = try password(user.stored, known: known)
        } catch {
            // The `!` of a disabled user may also be that of a mark such as Django's.
            if user.isEnabled {
                problems.append("\(line.name) \(consequence): \(Self.jettyHint(user.stored) ?? "\(error)")")
            }
        }
        return (user, problems)
    }

    /// Reads the user of a line, whose hash is not parsed; throws if the line is ignored.
    func readWithoutPassword(_ line: UserLine, in bytes: [UInt8]) throws(BadLine) -> FileUser {
        let number = line.line.number
        guard var stored = bytes.text(line.stored), !stored.containsControlCharacter else {
            throw BadLine(number, "the hash is not UTF-8")
        }
        guard let groups = groups(of: line, in: bytes) else {
            throw BadLine(number, "its groups are not UTF-8, or contain a control character")
        }
        let isEnabled = stored.utf8.first != UInt8(ascii: "!")
        if !isEnabled { stored.unicodeScalars.removeFirst() }
        return FileUser(
            name: line.name,
            groups: groups,
            attributes: attributes[readOptions.key(of: line.name)] ?? [],
            stored: stored,
            isEnabled: isEnabled,
            line: number
        )
    }

    private func groups(of line: UserLine, in bytes: [UInt8]) -> [String]? {
        if let groups { return groups[readOptions.key(of: line.name)] ?? [] }
        return line.groups.map { KeyFileFormat.groups(bytes, in: $0) } ?? []
    }

    func canRead(_ stored: String) -> Bool { (try? password(stored, known: nil)) != nil }

    private func password(_ stored: String, known: StoredPassword?) throws(BadHash) -> StoredPassword? {
        guard !PasswordFormats.isNoPassword(stored) else { return nil }
        if let known, known.text.utf8.elementsEqual(stored.utf8) { return known }
        let password = try StoredPassword(stored, options: readOptions.formatOptions(format))
        if let fault = readOptions.passwords?.limitFault(password.hash.cost) { throw BadHash(fault) }
        return password
    }

    /// Returns the message for a line of Jetty, such as `ann: MD5:hash,role`, of which `stored` is `MD5`.
    private static func jettyHint(_ stored: String) -> String? {
        let scheme = stored.utf8.drop { $0 == 0x20 }
        guard ["MD5", "CRYPT", "OBF"].contains(where: { scheme.elementsEqual($0.utf8) }) else { return nil }
        return
            "the line is one of Jetty (user: MD5:hash,role); import the file with gatehouse user import --format jetty"
    }
}

struct FileUser: Sendable {
    let name: Username
    /// Without repetitions, in the order of the file.
    var groups: [String]
    let attributes: [UserAttribute]
    /// The text in the field of the hash, without the `!` of a disabled user.
    let stored: String
    /// False if there is a `!` before the hash.
    let isEnabled: Bool
    /// Nil if the user has no password, or the text cannot be read.
    var password: StoredPassword?
    /// True if the name occurs on several lines, so that the user cannot sign in.
    var isAmbiguous = false
    /// The first line of the user.
    let line: Int

    /// Nil if the user cannot sign in.
    var usablePassword: StoredPassword? { isEnabled && !isAmbiguous ? password : nil }

    var isBroken: Bool { isEnabled && password == nil && !PasswordFormats.isNoPassword(stored) }

    /// A user on several lines is disabled.
    var record: UserRecord {
        UserRecord(
            name,
            groups: groups,
            isEnabled: isEnabled && !isAmbiguous,
            format: isAmbiguous ? nil : password?.hash.cost.description,
            attributes: attributes
        )
    }

    /// Returns whether sessions stay valid after a change of the user, such as a new hash of the same password.
    func isSame(as other: FileUser, rehashedTo rehashed: String?) -> Bool {
        name == other.name && isEnabled == other.isEnabled && attributes == other.attributes
            && isAmbiguous == other.isAmbiguous && groups.elementsEqual(other.groups, by: { $0.hasBytes(of: $1) })
            && (stored.hasBytes(of: other.stored) || rehashed?.hasBytes(of: other.stored) == true)
    }
}

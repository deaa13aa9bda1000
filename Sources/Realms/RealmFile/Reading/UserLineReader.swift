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
        let parts: Parts
        do throws(BadLine) {
            parts = try self.parts(line, in: bytes)
        } catch {
            return (nil, [Self.ignored(error.reason)])
        }
        var problems: [String] = []
        for group in parts.groups where group.hasLeadingOrTrailingBlank {
            problems.append(
                "the group \(group.debugDescription) begins or ends with a blank, so it differs from the group without the blank"
            )
        }
        var password: StoredPassword?
        do throws(BadHash) {
            password = try self.password(parts.stored, known: known)
        } catch {
            // The `!` of a disabled user may also be that of a mark such as Django's.
            if parts.isEnabled {
                problems.append("\(line.name) \(consequence): \(Self.jettyHint(parts.stored) ?? "\(error)")")
            }
        }
        return (user(line, parts: parts, password: password), problems)
    }

    /// Returns nil if the line is ignored.
    func readWithoutPassword(_ line: UserLine, in bytes: [UInt8]) -> FileUser? {
        (try? parts(line, in: bytes)).map { user(line, parts: $0, password: nil) }
    }

    private struct BadLine: Error {
        let reason: String
    }

    private struct Parts {
        let stored: String
        let isEnabled: Bool
        let groups: [String]
    }

    private func parts(_ line: UserLine, in bytes: [UInt8]) throws(BadLine) -> Parts {
        guard var stored = bytes.text(line.stored), !stored.containsControlCharacter else {
            throw BadLine(reason: "the hash is not UTF-8")
        }
        guard let groups = groups(of: line, in: bytes) else {
            throw BadLine(reason: "its groups are not UTF-8, or contain a control character")
        }
        let isEnabled = stored.utf8.first != UInt8(ascii: "!")
        if !isEnabled { stored.unicodeScalars.removeFirst() }
        return Parts(stored: stored, isEnabled: isEnabled, groups: groups)
    }

    private func user(_ line: UserLine, parts: Parts, password: StoredPassword?) -> FileUser {
        FileUser(
            name: line.name,
            groups: parts.groups,
            attributes: attributes[readOptions.key(of: line.name)] ?? [],
            stored: parts.stored,
            isEnabled: parts.isEnabled,
            password: password,
            line: line.line.number
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

    static func ignored(_ reason: String) -> String { "the line is ignored: \(reason)" }

    static func duplicate(_ name: Username, of line: Int, as other: Username? = nil) -> String {
        let spelling = other.map { $0 == name ? "" : ", as \($0)" } ?? ""
        return "duplicate user \(name) (also on line \(line)\(spelling)): the user cannot sign in"
    }

    /// Returns the message for a line of Jetty, such as `ann: MD5:hash,role`, of which `stored` is `MD5`.
    private static func jettyHint(_ stored: String) -> String? {
        guard ["MD5", "CRYPT", "OBF"].contains(where: { stored.utf8.drop { $0 == 0x20 }.elementsEqual($0.utf8) }) else {
            return nil
        }
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
    let password: StoredPassword?
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
            && isAmbiguous == other.isAmbiguous
            && groups.elementsEqual(other.groups, by: { $0.utf8.elementsEqual($1.utf8) })
            && (stored.utf8.elementsEqual(other.stored.utf8)
                || rehashed.map { $0.utf8.elementsEqual(other.stored.utf8) } ?? false)
    }
}

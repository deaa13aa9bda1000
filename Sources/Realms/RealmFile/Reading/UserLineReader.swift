// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Passwords
internal import RealmKit

/// Reads the users of lines.
struct UserLineReader: Sendable {
    let format: KeyFileFormat
    /// The groups of a group file; nil if the lines contain the groups.
    let groups: [UTF8Text: [String]]?
    let attributes: [UTF8Text: [UserAttribute]]
    let readOptions: ReadOptions
    /// The consequence of a hash that cannot be read, for messages.
    var consequence = "cannot sign in"

    /// Reads the user of a line.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - bytes: The bytes that the line's ranges refer to.
    ///   - known: A password that need not be parsed again if its text is the same.
    /// - Returns: The user, without a password if it cannot be read; nil if the line is ignored. The problems of the
    ///   line, for the administrator.
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

    /// Reads the user of a line, but not the password.
    ///
    /// - Returns: The user; nil if the line is ignored.
    func readWithoutPassword(_ line: UserLine, in bytes: [UInt8]) -> FileUser? {
        do throws(BadLine) {
            return user(line, parts: try parts(line, in: bytes), password: nil)
        } catch {
            return nil
        }
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

    /// Returns whether a text is a hash that can be used.
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

// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import RealmKit

enum KeyFileFormat: String, Sendable, Hashable {
    /// `user;hash;group,group`, the key file of GlassFish and Payara.
    case glassfish
    /// `user:hash`, the file of Apache's htpasswd.
    case htpasswd

    var separator: UInt8 { self == .glassfish ? UInt8(ascii: ";") : UInt8(ascii: ":") }

    /// The text in the field of the hash for a user without a password.
    var noPassword: String { self == .glassfish ? "RESET" : "*" }

    /// For messages.
    var name: String {
        self == .glassfish ? "a GlassFish key file (user;hash;groups)" : "an htpasswd file (user:hash)"
    }

    /// The detection of the format, by the first `;` or `:` of each line, of a file that may be read in parts.
    struct Detection {
        let path: String
        private(set) var format: KeyFileFormat?
        private var line = 0

        init(path: String) { self.path = path }

        /// Throws if two lines have different formats.
        mutating func read(_ bytes: [UInt8], lines: [TextLine]) throws(FileFault) {
            for line in lines {
                let content = bytes.trimmed(line.content)
                guard !content.isEmpty, bytes[content.lowerBound] != UInt8(ascii: "#"),
                    let index = content.first(where: {
                        bytes[$0] == UInt8(ascii: ";") || bytes[$0] == UInt8(ascii: ":")
                    })
                else { continue }
                let found: KeyFileFormat = bytes[index] == UInt8(ascii: ";") ? .glassfish : .htpasswd
                guard let format else {
                    (format, self.line) = (found, line.number)
                    continue
                }
                guard format == found else {
                    throw FileFault(
                        """
                        \(path):\(line.number): this line is in the format of \(found.name), line \(self.line) in the format of \
                        \(format.name); set format to glassfish or htpasswd to ignore lines of the other format
                        """
                    )
                }
            }
        }
    }
}

enum ParsedLine: Sendable {
    /// A blank line or a comment.
    case blank
    case user(UserLine)
    case malformed(String)
}

/// A user's line, with the ranges of its fields in the file.
struct UserLine: Sendable {
    let name: Username
    /// The hash, with a `!` before it if the user is disabled.
    let stored: Range<Int>
    /// Nil if the line has no field for groups.
    let groups: Range<Int>?
    let end: Int
    let line: TextLine
}

extension KeyFileFormat {
    /// Reads all lines of a file.
    func read(_ bytes: [UInt8], lines: [TextLine], body: (TextLine, ParsedLine) -> Void) {
        var isContinued = false
        read(bytes, lines: lines, isContinued: &isContinued, body: body)
    }

    /// Reads the lines of a part of a file; `isContinued` is true if the part before ended in a backslash.
    func read(_ bytes: [UInt8], lines: [TextLine], isContinued: inout Bool, body: (TextLine, ParsedLine) -> Void) {
        for line in lines {
            let content = self == .htpasswd ? bytes.trimmed(line.content) : line.content
            if isContinued {
                body(line, .malformed("it continues the line before, which ends in a backslash"))
            } else {
                body(line, read(bytes, content: content, line: line))
            }
            isContinued = self == .htpasswd && Self.isContinued(bytes, content: line.content)
        }
    }

    func read(_ bytes: [UInt8], content: Range<Int>, line: TextLine) -> ParsedLine {
        guard let first = content.first, !bytes.trimmed(content).isEmpty else { return .blank }
        guard bytes[first] != UInt8(ascii: "#") else { return .blank }
        guard !bytes.containsControlByte(in: content) else { return .malformed("it contains a control character") }
        switch self {
        case .glassfish: return glassfish(bytes, content: content, line: line)
        case .htpasswd: return htpasswd(bytes, content: content, line: line)
        }
    }

    /// Returns the name of a malformed line, so that no other line of it is used: it is unknown which one is meant.
    func name(ofMalformed line: TextLine, in bytes: [UInt8]) -> Username? {
        let content = self == .htpasswd ? bytes.trimmed(line.content) : line.content
        guard let end = bytes.index(of: separator, in: content), let text = bytes.text(content.lowerBound..<end) else {
            return nil
        }
        return try? Username(text)
    }

    /// Reads a line; GlassFish skips empty fields, so it reads `g` as the password in `u;;g`, which is rejected here.
    private func glassfish(_ bytes: [UInt8], content: Range<Int>, line: TextLine) -> ParsedLine {
        var fields = bytes.parts(content, by: separator)
        guard fields.count > 1 else { return withoutSeparator(bytes, content: content) }
        while fields.count > 3, fields.last?.isEmpty == true { fields.removeLast() }
        guard fields.count <= 3 else { return .malformed("there are more than three fields: name;hash;groups") }
        guard !fields[0].isEmpty else { return .malformed("there is no name before the ;") }
        guard !fields[1].isEmpty else {
            return .malformed("there is no hash; GlassFish would read the groups as the hash")
        }
        return user(bytes, name: fields[0], stored: fields[1], groups: fields.count == 3 ? fields[2] : nil, line: line)
    }

    /// Reads a line; like Apache, it ignores a second colon and the text after it.
    private func htpasswd(_ bytes: [UInt8], content: Range<Int>, line: TextLine) -> ParsedLine {
        guard !Self.isContinued(bytes, content: line.content) else { return .malformed("it ends in a backslash") }
        let fields = bytes.parts(content, by: separator)
        guard fields.count > 1 else { return withoutSeparator(bytes, content: content) }
        guard !fields[0].isEmpty else { return .malformed("there is no name before the :") }
        return user(bytes, name: fields[0], stored: fields[1], groups: nil, line: line)
    }

    private func withoutSeparator(_ bytes: [UInt8], content: Range<Int>) -> ParsedLine {
        let fields = bytes.parts(bytes.trimmed(content), by: UInt8(ascii: "="))
        let isWildFly = fields.count == 2 && bytes.text(fields[1]).flatMap(Hexadecimal.decodeLowercase)?.count == 16
        let hint = isWildFly ? " (gatehouse user import --format wildfly reads the lines name=hash of WildFly)" : ""
        return .malformed("there is no \(Unicode.Scalar(separator))\(hint)")
    }

    private func user(
        _ bytes: [UInt8],
        name: Range<Int>,
        stored: Range<Int>,
        groups: Range<Int>?,
        line: TextLine
    ) -> ParsedLine {
        guard let text = bytes.text(name) else { return .malformed("the name is not UTF-8") }
        do throws(BadUsername) {
            let user = try Username(text)
            let end = groups?.upperBound ?? stored.upperBound
            return .user(UserLine(name: user, stored: stored, groups: groups, end: end, line: line))
        } catch {
            return .malformed("\(error)")
        }
    }

    /// Returns whether Apache joins a line with the next line, because it ends in a single backslash.
    static func isContinued(_ bytes: [UInt8], content: Range<Int>) -> Bool {
        guard content.count > 0, bytes[content.upperBound - 1] == UInt8(ascii: "\\") else { return false }
        return content.count == 1 || bytes[content.upperBound - 2] != UInt8(ascii: "\\")
    }

    /// Returns the groups of a line without repetitions; nil if a group is malformed.
    static func groups(_ bytes: [UInt8], in range: Range<Int>) -> [String]? {
        var groups: [String] = []
        var seen: Set<[UInt8]> = []
        for part in bytes.parts(range, by: UInt8(ascii: ",")) where !part.isEmpty {
            guard let group = bytes.text(part), !group.containsControlCharacter else { return nil }
            if seen.insert(Array(bytes[part])).inserted { groups.append(group) }
        }
        return groups
    }
}

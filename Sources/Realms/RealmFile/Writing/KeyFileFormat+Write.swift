// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Passwords
internal import RealmKit

extension KeyFileFormat {
    /// Returns a line for a user.
    func line(_ user: Username, stored: String, groups: [String]) -> String {
        switch self {
        case .glassfish: "\(user);\(stored);\(groups.joined(separator: ","))"
        case .htpasswd: "\(user):\(stored)"
        }
    }

    /// Returns the lines of a user.
    ///
    /// There may be several lines.
    func lines(of user: Username, in bytes: [UInt8]) -> [UserLine] {
        let name = Array(user.text.utf8)
        let lines = TextLine.lines(of: bytes)
        var found: [UserLine] = []
        for (index, line) in lines.enumerated() {
            // Only lines that begin with the name are parsed, because the file may have thousands of lines.
            let content = self == .htpasswd ? bytes.trimmed(line.content) : line.content
            guard bytes[content].starts(with: name) else { continue }
            if self == .htpasswd, index > 0, Self.isContinued(bytes, content: lines[index - 1].content) { continue }
            if case .user(let known) = read(bytes, content: content, line: line), known.name == user {
                found.append(known)
            }
        }
        return found
    }

    /// Rejects a user name that could not be read back unchanged.
    func check(_ user: Username, hasGroups: Bool) throws(RealmError) {
        let text = user.text
        if text.utf8.first == UInt8(ascii: "#") {
            throw .invalidOperation("a user name in \(name) cannot begin with #")
        }
        if text.unicodeScalars.first == "\u{FEFF}" {
            throw .invalidOperation("a user name in \(name) cannot begin with a byte order mark")
        }
        // Both formats reject both characters, because they determine which format is detected.
        for mark in ";:".utf8 where text.utf8.contains(mark) {
            throw .invalidOperation("a user name in \(name) cannot contain \(Unicode.Scalar(mark))")
        }
        guard self == .htpasswd, hasGroups else { return }
        guard
            !text.unicodeScalars.contains(where: { $0.properties.isWhitespace || "\"'\\".unicodeScalars.contains($0) })
        else { throw .invalidOperation("a user name in a group file cannot contain blanks, quotes or backslashes") }
    }

    /// Rejects groups that could not be read back unchanged.
    func check(_ groups: [String]) throws(RealmError) {
        // The readers split lines at bytes, so a mark counts as well if a combining mark follows it.
        let marks = Array((self == .glassfish ? ";," : ":\\").utf8)
        for group in groups {
            guard !group.isEmpty else { throw .invalidOperation("a group without a name cannot be stored in \(name)") }
            guard !group.containsControlCharacter, !group.hasLeadingOrTrailingBlank else {
                throw .invalidOperation(
                    "the name of a group cannot contain control characters, or leading or trailing blanks"
                )
            }
            for mark in marks where group.utf8.contains(mark) {
                throw .invalidOperation(
                    "the name of a group in \(name) cannot contain \(Unicode.Scalar(mark)): \(group)"
                )
            }
            guard
                self == .glassfish || group.utf8.first != UInt8(ascii: "#") && group.unicodeScalars.first != "\u{FEFF}"
            else {
                throw .invalidOperation(
                    "the name of a group in a group file cannot begin with # or a byte order mark: \(group)"
                )
            }
        }
    }

    /// Rejects a hash that could not be read back unchanged.
    func check(hash: String, readOptions: ReadOptions) throws(RealmError) {
        guard !hash.isEmpty, !hash.containsControlCharacter, !hash.hasLeadingOrTrailingBlank,
            hash.utf8.first != UInt8(ascii: "!"),
            !hash.hasBytes(of: noPassword),
            !hash.utf8.contains(separator), hash.utf8.last != UInt8(ascii: "\\")
        else { throw .invalidOperation("this hash cannot be stored in \(name)") }
        do throws(BadHash) {
            _ = try PasswordFormats.read(hash, options: readOptions.formatOptions(self))
        } catch {
            throw .invalidOperation("\(error)")
        }
    }

    /// Rejects properties that a file of users cannot store.
    static func check(expiry: Int?, mustChange: Bool) throws(RealmError) {
        guard expiry == nil else {
            throw .invalidOperation("a file of users cannot store when an account expires; use a store realm")
        }
        guard !mustChange else {
            throw .invalidOperation(
                "a file of users cannot store that a password must be changed; use a store realm"
            )
        }
    }
}

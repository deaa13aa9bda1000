// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
internal import RealmKit

extension KeyFileForm {
    /// A line for a user.
    func line(_ user: Username, _ stored: String, _ groups: [String]) -> String {
        switch self {
        case .glassfish: "\(user);\(stored);\(groups.joined(separator: ","))"
        case .htpasswd: "\(user):\(stored)"
        }
    }

    /// Where a user stands, which may be on several lines.
    func lines(of user: Username, in bytes: [UInt8]) -> [UserLine] {
        let name = Array(user.text.utf8)
        let lines = TextLine.lines(of: bytes)
        var found: [UserLine] = []
        for (place, line) in lines.enumerated() {
            // Of many thousand lines one or two are worth reading.
            let content = self == .htpasswd ? bytes.trimmed(line.content) : line.content
            guard bytes[content].starts(with: name) else { continue }
            if self == .htpasswd, place > 0, Self.isContinued(bytes, lines[place - 1].content) { continue }
            if case .user(let known) = read(bytes, content, line), known.name == user { found.append(known) }
        }
        return found
    }

    /// Refuses a name that would not be read as what it is.
    func check(_ user: Username, hasGroups: Bool) throws(RealmError) {
        let text = user.text
        if text.hasPrefix("#") { throw .invalidOperation("a user name in \(name) cannot begin with #") }
        if text.unicodeScalars.first == "\u{FEFF}" {
            throw .invalidOperation("a user name in \(name) cannot begin with a byte order mark")
        }
        // Neither in either form: which one it is shall be told by the first line that holds one of them.
        for mark in [";", ":"] where text.contains(mark) {
            throw .invalidOperation("a user name in \(name) cannot hold \(mark)")
        }
        guard self == .htpasswd, hasGroups else { return }
        guard
            !text.unicodeScalars.contains(where: { $0.properties.isWhitespace || "\"'\\".unicodeScalars.contains($0) })
        else { throw .invalidOperation("a user name in a group file cannot hold blanks, quotes or backslashes") }
    }

    /// Refuses groups that would not be read as what they are.
    func check(_ groups: [String]) throws(RealmError) {
        let marks = self == .glassfish ? [";", ","] : [":", "\\"]
        for group in groups {
            guard !group.isEmpty else { throw .invalidOperation("a group without a name cannot be kept in \(name)") }
            guard !group.holdsControl, !group.hasBlankAtAnEnd else {
                throw .invalidOperation("the name of a group cannot hold control characters, or blanks at its ends")
            }
            for mark in marks where group.contains(mark) {
                throw .invalidOperation("the name of a group in \(name) cannot hold \(mark): \(group)")
            }
            guard self == .glassfish || !group.hasPrefix("#") && group.unicodeScalars.first != "\u{FEFF}" else {
                throw .invalidOperation("the name of a group in a group file cannot begin so: \(group)")
            }
        }
    }

    /// Refuses a hash that would not be read as what it is.
    func check(hash: String, _ rules: ReadingRules) throws(RealmError) {
        guard !hash.isEmpty, !hash.holdsControl, !hash.hasBlankAtAnEnd, !hash.hasPrefix("!"), hash != noPassword,
            !hash.utf8.contains(separator), !hash.hasSuffix("\\")
        else { throw .invalidOperation("this hash cannot be kept in \(name)") }
        do throws(BadHash) {
            _ = try PasswordFormats.read(hash, rules.options(self))
        } catch {
            throw .invalidOperation("\(error)")
        }
    }

    /// Refuses what no key file can hold.
    static func check(expiry: Int?, mustChange: Bool) throws(RealmError) {
        guard expiry == nil else {
            throw .invalidOperation("a file of this kind cannot hold when an account ends; a store realm can")
        }
        guard !mustChange else {
            throw .invalidOperation(
                "a file of this kind cannot hold that a password must be changed; a store realm can"
            )
        }
    }
}

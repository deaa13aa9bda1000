// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// A group file (AuthGroupFile of Apache httpd).
struct GroupFile: Sendable {
    /// A line `group: user user`.
    private struct Line {
        let group: UTF8Text
        let members: [(name: String, range: Range<Int>)]
        /// The end of the line without trailing blanks.
        let end: Int
    }

    private var lines: [Line] = []
    /// The ignored lines.
    private(set) var malformedLines: [BadLine] = []

    init(_ bytes: [UInt8]) {
        var isContinued = false
        for line in TextLine.lines(of: bytes) {
            let content = bytes.trimmed(line.content)
            let wasContinued = isContinued
            isContinued = KeyFileFormat.isContinued(bytes, content: line.content)
            if wasContinued || isContinued {
                malformedLines.append(BadLine(line.number, "it is continued by a backslash"))
                continue
            }
            guard let first = content.first, bytes[first] != UInt8(ascii: "#") else { continue }
            do throws(BadLine) {
                lines.append(try Self.read(bytes, content: content, number: line.number))
            } catch {
                malformedLines.append(error)
            }
        }
    }

    /// Returns the groups by the keys of users, without repetitions, in the order of the file.
    ///
    /// Users with the same groups share one list, so that a million users in a few groups take little memory.
    func groupsByUser(_ key: (Username) -> UTF8Text) -> [UTF8Text: [String]] {
        var names: [UTF8Text] = []
        var numbers: [UTF8Text: Int] = [:]
        var repeated: Set<Int> = []
        for line in lines {
            if let number = numbers[line.group] {
                repeated.insert(number)
            } else {
                numbers[line.group] = names.count
                names.append(line.group)
            }
        }
        var groups: [UTF8Text: [Int]] = [:]
        for line in lines {
            guard let group = numbers[line.group] else { continue }
            for member in line.members {
                // A malformed name is ignored, because no user can sign in with it.
                guard let user = Self.username(member.name).map(key) else { continue }
                // A user who is twice in one line has the group at the end of the list.
                if groups[user]?.last == group { continue }
                if repeated.contains(group), groups[user]?.contains(group) == true { continue }
                groups[user, default: []].append(group)
            }
        }
        var lists: [[Int]: [String]] = [:]
        return groups.mapValues { numbers in
            if let known = lists[numbers] { return known }
            let list = numbers.map { names[$0].string }
            lists[numbers] = list
            return list
        }
    }

    static func username(_ text: String) -> Username? { try? Username(text) }

    private static func read(_ bytes: [UInt8], content: Range<Int>, number: Int) throws(BadLine) -> Line {
        guard !bytes.containsControlByte(in: content, allowingTab: true) else {
            throw BadLine(number, "it contains a control character")
        }
        guard let colon = bytes.index(of: UInt8(ascii: ":"), in: content) else {
            throw BadLine(number, "there is no :")
        }
        guard colon > content.lowerBound else { throw BadLine(number, "there is no group before the :") }
        guard let group = bytes.text(content.lowerBound..<colon) else { throw BadLine(number, "it is not UTF-8") }
        guard !group.containsControlCharacter else {
            throw BadLine(number, "the group's name contains a control character")
        }
        let members = try members(bytes, in: colon + 1..<content.upperBound, line: number)
        return Line(group: UTF8Text(group), members: members, end: content.upperBound)
    }

    /// Splits the members of a line at blanks; a name in quotes may contain blanks.
    private static func members(
        _ bytes: [UInt8],
        in range: Range<Int>,
        line: Int
    ) throws(BadLine) -> [(name: String, range: Range<Int>)] {
        var members: [(name: String, range: Range<Int>)] = []
        var index = range.lowerBound
        while index < range.upperBound {
            guard ![UInt8].isBlank(bytes[index]) else {
                index += 1
                continue
            }
            let start = index
            let word: [UInt8]
            if bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "'") {
                word = try quoted(bytes, from: &index, to: range.upperBound, line: line)
            } else {
                while index < range.upperBound, ![UInt8].isBlank(bytes[index]) { index += 1 }
                word = Array(bytes[start..<index])
            }
            guard let name = word.text(word.indices) else { throw BadLine(line, "a name is not UTF-8") }
            members.append((name, start..<index))
        }
        return members
    }

    private static func quoted(
        _ bytes: [UInt8],
        from index: inout Int,
        to end: Int,
        line: Int
    ) throws(BadLine) -> [UInt8] {
        let quote = bytes[index]
        var word: [UInt8] = []
        index += 1
        while index < end, bytes[index] != quote {
            let isEscaped =
                bytes[index] == UInt8(ascii: "\\") && index + 1 < end
                && (bytes[index + 1] == quote || bytes[index + 1] == UInt8(ascii: "\\"))
            if isEscaped { index += 1 }
            word.append(bytes[index])
            index += 1
        }
        guard index < end else { throw BadLine(line, "a quote is not closed") }
        index += 1
        guard index == end || [UInt8].isBlank(bytes[index]) else { throw BadLine(line, "a quote ends within a word") }
        return word
    }

    /// Returns the bytes after the groups of a user are replaced; `key` is that of a user's name.
    static func replacingGroups(
        of user: Username,
        with groups: [String],
        in bytes: [UInt8],
        by key: (Username) -> UTF8Text
    ) -> [UInt8] {
        let wanted = UserEdit.unique(groups).map { UTF8Text($0) }
        var missing = wanted
        var splices: [Splice] = []
        let lines = GroupFile(bytes).lines
        for line in lines {
            let own = line.members.filter { username($0.name).map(key) == key(user) }
            guard !own.isEmpty else { continue }
            if wanted.contains(line.group) {
                missing.removeAll { $0 == line.group }
            } else {
                splices += removals(of: own.map(\.range), in: bytes)
            }
        }
        var newLines: [UTF8Text] = []
        for group in missing {
            if let line = lines.first(where: { $0.group == group }) {
                splices.append(Splice(line.end..<line.end, " \(user)"))
            } else {
                newLines.append(group)
            }
        }
        return newLines.reduce(Splice.apply(splices, to: bytes)) { bytes, group in
            Splice.line("\(group.string): \(user)", after: bytes).applied(to: bytes)
        }
    }

    /// Removes names from a line, with the blanks before them.
    private static func removals(of names: [Range<Int>], in bytes: [UInt8]) -> [Splice] {
        names.map { name in
            var start = name.lowerBound
            while [UInt8].isBlank(bytes[start - 1]) { start -= 1 }
            return Splice(start..<name.upperBound)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

struct GroupFile: Sendable {
    let lines: [GroupLine]
    /// The ignored lines.
    let malformedLines: [(line: Int, reason: String)]

    static let empty = GroupFile([])

    init(_ bytes: [UInt8]) {
        var lines: [GroupLine] = []
        var malformedLines: [(line: Int, reason: String)] = []
        var isContinued = false
        for line in TextLine.lines(of: bytes) {
            let content = bytes.trimmed(line.content)
            let wasContinued = isContinued
            isContinued = KeyFileFormat.isContinued(bytes, content: line.content)
            if wasContinued || isContinued {
                malformedLines.append((line.number, "it is continued by a backslash"))
                continue
            }
            guard let first = content.first, bytes[first] != UInt8(ascii: "#") else { continue }
            do throws(BadLine) {
                lines.append(try Self.read(bytes, content: content, line: line))
            } catch {
                malformedLines.append((line.number, error.reason))
            }
        }
        self.lines = lines
        self.malformedLines = malformedLines
    }

    /// Returns the groups by the keys of users, without repetitions, in the order of the file.
    ///
    /// Users with the same groups share one list, so that a million users in a few groups take little memory.
    func groupsByUser(_ key: (Username) -> UTF8Text) -> [UTF8Text: [String]] {
        var linesByGroup: [UTF8Text: Int] = [:]
        for line in lines { linesByGroup[UTF8Text(line.group), default: 0] += 1 }
        var lists = GroupLists()
        // A user's number is the index of the user's list.
        var numbers: [UTF8Text: Int] = [:]
        var listByNumber: [Int] = []
        var seen: Set<GroupLists.Member> = []
        for line in lines {
            let group = lists.number(of: line.group)
            let isRepeated = linesByGroup[UTF8Text(line.group)] != 1
            for member in line.members {
                // A malformed name is ignored, because no user can sign in with it.
                guard let user = Self.username(member.name).map(key) else { continue }
                let number = numbers[user] ?? listByNumber.count
                if number == listByNumber.count {
                    numbers[user] = number
                    listByNumber.append(GroupLists.empty)
                }
                // A user who is twice in one line has the group at the end of the list.
                guard lists.lastGroup(of: listByNumber[number]) != group else { continue }
                guard !isRepeated || seen.insert(GroupLists.Member(user: number, group: group)).inserted else {
                    continue
                }
                listByNumber[number] = lists.adding(group, to: listByNumber[number])
            }
        }
        var groups: [Int: [String]] = [:]
        return numbers.mapValues { number in
            let list = listByNumber[number]
            if let known = groups[list] { return known }
            let names = lists.names(list)
            groups[list] = names
            return names
        }
    }

    static func username(_ text: String) -> Username? { try? Username(text) }

    private struct BadLine: Error {
        let reason: String
    }

    private static func read(_ bytes: [UInt8], content: Range<Int>, line: TextLine) throws(BadLine) -> GroupLine {
        guard !bytes.containsControlByte(in: content, allowingTab: true) else {
            throw BadLine(reason: "it contains a control character")
        }
        guard let colon = bytes.index(of: UInt8(ascii: ":"), in: content) else {
            throw BadLine(reason: "there is no :")
        }
        guard colon > content.lowerBound else { throw BadLine(reason: "there is no group before the :") }
        guard let group = bytes.text(content.lowerBound..<colon) else { throw BadLine(reason: "it is not UTF-8") }
        guard !group.containsControlCharacter else {
            throw BadLine(reason: "the group's name contains a control character")
        }
        let members = try members(bytes, in: colon + 1..<content.upperBound)
        return GroupLine(group: group, members: members, content: content, line: line)
    }

    /// Splits the members of a line at blanks; a name in quotes may contain blanks.
    private static func members(
        _ bytes: [UInt8],
        in range: Range<Int>
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
                word = try quoted(bytes, from: &index, to: range.upperBound)
            } else {
                while index < range.upperBound, ![UInt8].isBlank(bytes[index]) { index += 1 }
                word = Array(bytes[start..<index])
            }
            guard let name = word.text(word.indices) else { throw BadLine(reason: "a name is not UTF-8") }
            members.append((name, start..<index))
        }
        return members
    }

    private static func quoted(_ bytes: [UInt8], from index: inout Int, to end: Int) throws(BadLine) -> [UInt8] {
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
        guard index < end else { throw BadLine(reason: "a quote is not closed") }
        index += 1
        guard index == end || [UInt8].isBlank(bytes[index]) else { throw BadLine(reason: "a quote ends within a word") }
        return word
    }

    /// Returns the bytes after the groups of a user are replaced; `key` is that of a user's name.
    static func replacingGroups(
        of user: Username,
        with groups: [String],
        in bytes: [UInt8],
        by key: (Username) -> UTF8Text
    ) -> [UInt8] {
        var missing = UserEdit.unique(groups)
        var splices: [Splice] = []
        let file = GroupFile(bytes)
        let isWanted = { (line: GroupLine) in groups.contains { $0.utf8.elementsEqual(line.group.utf8) } }
        for line in file.lines {
            let own = line.members.filter { username($0.name).map(key) == key(user) }
            guard !own.isEmpty else { continue }
            if isWanted(line) {
                missing.removeAll { $0.utf8.elementsEqual(line.group.utf8) }
            } else {
                splices += removals(of: own.map(\.range), in: bytes)
            }
        }
        for group in missing {
            if let line = file.lines.first(where: { $0.group.utf8.elementsEqual(group.utf8) }) {
                splices.append(Splice(line.content.upperBound..<line.content.upperBound, " \(user)"))
            }
        }
        var result = Splice.apply(splices, to: bytes)
        for group in missing where !file.lines.contains(where: { $0.group.utf8.elementsEqual(group.utf8) }) {
            result = Splice.apply([.line("\(group): \(user)", after: result)], to: result)
        }
        return result
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

/// A line `group: user user` of a group file (AuthGroupFile of Apache httpd).
struct GroupLine: Sendable {
    let group: String
    let members: [(name: String, range: Range<Int>)]
    /// The line without leading and trailing blanks.
    let content: Range<Int>
    let line: TextLine
}

/// Lists of groups that share their beginnings; the same group added to the same list has the same number.
struct GroupLists {
    static let empty = 0

    struct Member: Hashable {
        let user: Int
        let group: Int
    }

    private struct Link: Hashable {
        let list: Int
        let group: Int
    }

    /// The last group of each list, and the list before that group; the first element stands for the empty list.
    private var links = [Link(list: 0, group: -1)]
    private var numbers: [Link: Int] = [:]
    private var groups: [String] = []
    private var groupNumbers: [UTF8Text: Int] = [:]

    mutating func number(of group: String) -> Int {
        if let known = groupNumbers[UTF8Text(group)] { return known }
        groupNumbers[UTF8Text(group)] = groups.count
        groups.append(group)
        return groups.count - 1
    }

    func lastGroup(of list: Int) -> Int? { list == Self.empty ? nil : links[list].group }

    mutating func adding(_ group: Int, to list: Int) -> Int {
        let link = Link(list: list, group: group)
        if let known = numbers[link] { return known }
        numbers[link] = links.count
        links.append(link)
        return links.count - 1
    }

    func names(_ list: Int) -> [String] {
        var names: [String] = []
        var list = list
        while list != Self.empty {
            names.append(groups[links[list].group])
            list = links[list].list
        }
        return names.reversed()
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// A line `group: user user` of a group file in the format of Apache's AuthGroupFile.
struct GroupLine: Sendable {
    let group: String
    let members: [(name: String, place: Range<Int>)]
    /// The line without blanks at its ends.
    let content: Range<Int>
    let line: TextLine
}

/// The contents of a group file.
struct GroupFile: Sendable {
    let lines: [GroupLine]
    /// Malformed lines, which are ignored, with the reasons.
    let refusals: [(line: Int, reason: String)]

    /// No groups.
    static let empty = GroupFile([])

    init(_ bytes: [UInt8]) {
        var lines: [GroupLine] = []
        var refusals: [(line: Int, reason: String)] = []
        var isContinued = false
        for line in TextLine.lines(of: bytes) {
            let content = bytes.trimmed(line.content)
            let wasContinued = isContinued
            isContinued = KeyFileForm.isContinued(bytes, content: line.content)
            if wasContinued || isContinued {
                refusals.append((line.number, "it is continued by a backslash"))
                continue
            }
            guard let first = content.first, bytes[first] != UInt8(ascii: "#") else { continue }
            do throws(BadLine) {
                lines.append(try Self.read(bytes, content: content, line: line))
            } catch {
                refusals.append((line.number, error.reason))
            }
        }
        self.lines = lines
        self.refusals = refusals
    }

    /// Returns the groups of every user, without repetitions, in the order of the file.
    func groupsByUser() -> [Username: [String]] {
        var groups: [Username: [String]] = [:]
        var seen: [Username: Set<[UInt8]>] = [:]
        for line in lines {
            let group = Array(line.group.utf8)
            for member in line.members {
                // A malformed name is ignored: no user can sign in with it.
                guard let user = Self.username(member.name) else { continue }
                guard seen[user, default: []].insert(group).inserted else { continue }
                groups[user, default: []].append(line.group)
            }
        }
        return groups
    }

    private static func username(_ text: String) -> Username? {
        do throws(BadUsername) {
            return try Username(text)
        } catch {
            return nil
        }
    }

    private struct BadLine: Error {
        let reason: String
    }

    private static func read(
        _ bytes: [UInt8],
        content: Range<Int>,
        line: TextLine
    ) throws(BadLine) -> GroupLine {
        guard !bytes.hasControl(in: content, allowingTab: true) else {
            throw BadLine(reason: "it contains a control character")
        }
        guard let colon = bytes.place(of: UInt8(ascii: ":"), in: content) else {
            throw BadLine(reason: "there is no :")
        }
        guard colon > content.lowerBound else { throw BadLine(reason: "there is no group before the :") }
        guard let group = bytes.text(content.lowerBound..<colon) else { throw BadLine(reason: "it is not UTF-8") }
        guard !group.holdsControl else { throw BadLine(reason: "the group's name contains a control character") }
        let members = try members(bytes, in: colon + 1..<content.upperBound)
        return GroupLine(group: group, members: members, content: content, line: line)
    }

    /// Splits a line into words between blanks; a word that begins with a quote ends with it.
    private static func members(
        _ bytes: [UInt8],
        in range: Range<Int>
    ) throws(BadLine) -> [(name: String, place: Range<Int>)] {
        var members: [(name: String, place: Range<Int>)] = []
        var place = range.lowerBound
        while place < range.upperBound {
            guard ![UInt8].isBlank(bytes[place]) else {
                place += 1
                continue
            }
            let start = place
            let word: [UInt8]
            if bytes[place] == UInt8(ascii: "\"") || bytes[place] == UInt8(ascii: "'") {
                word = try quoted(bytes, from: &place, to: range.upperBound)
            } else {
                while place < range.upperBound, ![UInt8].isBlank(bytes[place]) { place += 1 }
                word = Array(bytes[start..<place])
            }
            guard let name = word.text(word.indices) else { throw BadLine(reason: "a name is not UTF-8") }
            members.append((name, start..<place))
        }
        return members
    }

    private static func quoted(_ bytes: [UInt8], from place: inout Int, to end: Int) throws(BadLine) -> [UInt8] {
        let quote = bytes[place]
        var word: [UInt8] = []
        place += 1
        while place < end, bytes[place] != quote {
            let isEscaped =
                bytes[place] == UInt8(ascii: "\\") && place + 1 < end
                && (bytes[place + 1] == quote || bytes[place + 1] == UInt8(ascii: "\\"))
            if isEscaped { place += 1 }
            word.append(bytes[place])
            place += 1
        }
        guard place < end else { throw BadLine(reason: "a quote is not closed") }
        place += 1
        guard place == end || [UInt8].isBlank(bytes[place]) else { throw BadLine(reason: "a quote ends within a word") }
        return word
    }
}

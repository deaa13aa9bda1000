// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

extension GroupFile {
    /// Returns the bytes of a group file after the groups of a user are replaced.
    static func replacingGroups(of user: Username, with groups: [String], in bytes: [UInt8]) -> [UInt8] {
        var missing = UserEdit.unique(groups)
        var splices: [Splice] = []
        let file = GroupFile(bytes)
        let isWanted = { (line: GroupLine) in groups.contains { $0.utf8.elementsEqual(line.group.utf8) } }
        let isMember = { (line: GroupLine) in line.members.contains { $0.name.utf8.elementsEqual(user.text.utf8) } }
        for line in file.lines where isMember(line) {
            if isWanted(line) {
                missing.removeAll { $0.utf8.elementsEqual(line.group.utf8) }
            } else {
                splices += removals(of: user, from: line, in: bytes)
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

    /// Returns the splices that remove a user's name from a line, with the blanks before the name.
    private static func removals(of user: Username, from line: GroupLine, in bytes: [UInt8]) -> [Splice] {
        line.members.filter { $0.name.utf8.elementsEqual(user.text.utf8) }.map { member in
            var start = member.range.lowerBound
            while [UInt8].isBlank(bytes[start - 1]) { start -= 1 }
            return Splice(start..<member.range.upperBound)
        }
    }
}

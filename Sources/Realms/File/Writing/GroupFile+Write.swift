// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

extension GroupFile {
    /// Returns the bytes of the group file after a change of a user's groups.
    static func setting(_ groups: [String], of user: Username, in bytes: [UInt8]) -> [UInt8] {
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

    /// Removes a name with the blanks before it.
    private static func removals(of user: Username, from line: GroupLine, in bytes: [UInt8]) -> [Splice] {
        line.members.filter { $0.name.utf8.elementsEqual(user.text.utf8) }.map { member in
            var start = member.range.lowerBound
            while [UInt8].isBlank(bytes[start - 1]) { start -= 1 }
            return Splice(start..<member.range.upperBound)
        }
    }
}

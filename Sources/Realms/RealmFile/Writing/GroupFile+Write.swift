// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

extension GroupFile {
    /// Returns the bytes of a group file after the groups of a user are replaced.
    ///
    /// `key` returns the key of a user's name.
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

    /// Returns the splices that remove names from a line, with the blanks before the names.
    private static func removals(of names: [Range<Int>], in bytes: [UInt8]) -> [Splice] {
        names.map { name in
            var start = name.lowerBound
            while [UInt8].isBlank(bytes[start - 1]) { start -= 1 }
            return Splice(start..<name.upperBound)
        }
    }
}

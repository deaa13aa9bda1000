// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// Rules that derive groups from other groups: with `a,b->c`, members of a or b are also members of c.
///
/// Rules are transitive. Source: the `group-mapping` property of GlassFish, which applies it to the
/// LDAP realm only, Gatehouse to every realm.
public struct GroupMapping: Sendable {
    /// A mapping without rules.
    public static let none = GroupMapping([:])

    // By bytes, as rules compare groups.
    private let targets: [UTF8Text: [UTF8Text]]

    private init(_ targets: [UTF8Text: [UTF8Text]]) { self.targets = targets }

    /// True if there are no rules.
    public var isEmpty: Bool { targets.isEmpty }

    /// The groups whose members get other groups.
    package var sources: [String] { targets.keys.map(\.string) }

    /// Returns whether a rule gives a group.
    func hasTarget(_ group: String) -> Bool { targets.values.contains { $0.contains(UTF8Text(group)) } }

    /// Reads words such as `a,b->c` that each contain one rule, or several rules separated by `;`; a cycle is an error.
    public init(rules: [String]) throws(BadValue) {
        var targets: [UTF8Text: [UTF8Text]] = [:]
        for rule in rules.flatMap({ $0.split(separator: ";") }) {
            guard let arrow = rule.utf8.firstRange(of: "->".utf8) else {
                throw BadValue("takes rules such as a,b->c, not \(rule)")
            }
            let from = rule[..<arrow.lowerBound].split(separator: ",", omittingEmptySubsequences: false)
            let to = rule[arrow.upperBound...]
            guard !to.isEmpty, !from.contains(""), !to.contains(",") else {
                throw BadValue("takes rules such as a,b->c, not \(rule)")
            }
            for group in from { targets[UTF8Text(String(group)), default: []].append(UTF8Text(String(to))) }
        }
        self.init(targets)
        for group in targets.keys.sorted(by: Self.isBefore)
        where derivedGroups(from: [group], excludingGiven: false).contains(group) {
            throw BadValue("has a cycle through \(group.string)")
        }
    }

    /// The rules in canonical order, for comparing two mappings.
    var rules: [String] {
        targets.keys.sorted(by: Self.isBefore).map { group in
            let sorted = (targets[group] ?? []).sorted(by: Self.isBefore).map(\.string)
            return "\(group.string)->\(sorted.joined(separator: ","))"
        }
    }

    private static func isBefore(_ left: UTF8Text, _ right: UTF8Text) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    /// Returns the groups that the rules add to the given groups, each once, without the given ones.
    public func derivedGroups(from groups: [String]) -> [String] {
        derivedGroups(from: groups.map { UTF8Text($0) }, excludingGiven: true).map(\.string)
    }

    private func derivedGroups(from groups: [UTF8Text], excludingGiven: Bool) -> [UTF8Text] {
        var seen: Set<UTF8Text> = excludingGiven ? Set(groups) : []
        var result: [UTF8Text] = []
        var open = groups
        while let group = open.popLast() {
            for target in targets[group] ?? [] where seen.insert(target).inserted {
                result.append(target)
                open.append(target)
            }
        }
        return result
    }
}

/// The names of groups that users, files and other systems give.
package enum GroupName {
    /// The maximum length of a name, in bytes.
    package static let maximumBytes = 1024

    /// Returns whether a text has 1 to ``maximumBytes`` bytes and no control characters (C0, DEL, C1).
    package static func isUsable(_ name: String) -> Bool {
        guard (1...maximumBytes).contains(name.utf8.count) else { return false }
        // Most names are plain ASCII.
        return name.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            || !name.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }

    /// Returns names for an administrator, as in `Staff, "Domain Users", "a, b"`: one that could be read as several ones, or
    /// as none, is quoted as in a realms.conf.
    package static func list(_ names: [String], separator: String = ", ") -> String {
        names.map(quoted).joined(separator: separator)
    }

    private static func quoted(_ name: String) -> String {
        let isPlain = name.unicodeScalars.allSatisfy { scalar in
            let properties = scalar.properties
            return !#"#,;{}"\“”„‘’"#.unicodeScalars.contains(scalar) && !properties.isWhitespace
                && properties.generalCategory != .format
        }
        guard name.isEmpty || !isPlain || name.utf8.first == UInt8(ascii: "'") else { return name }
        var text = "\""
        for scalar in name.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text.unicodeScalars.append("\\") }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Rules for groups that follow from other groups: with `a,b->c`, members of a or b are also members of c.
///
/// Rules chain; a cycle is rejected. Source: the `group-mapping` property of GlassFish's realms, of which only the LDAP
/// realm applies it; here every realm does.
public struct GroupMapping: Sendable {
    /// A mapping without rules.
    public static let none = GroupMapping([:])

    private let targets: [String: [String]]

    private init(_ targets: [String: [String]]) {
        self.targets = targets
    }

    /// True if there are no rules.
    public var isEmpty: Bool { targets.isEmpty }

    /// Reads rules such as `a,b->c`.
    ///
    /// - Parameter rules: Words of one rule each, or of several separated by `;`.
    /// - Throws: ``BadValue`` for a malformed rule, and for a cycle.
    public init(rules: [String]) throws(BadValue) {
        var targets: [String: [String]] = [:]
        for rule in rules.flatMap({ $0.split(separator: ";") }) {
            guard let arrow = rule.utf8.firstRange(of: "->".utf8) else {
                throw BadValue("takes rules such as a,b->c, not \(rule)")
            }
            let from = rule[..<arrow.lowerBound].split(separator: ",", omittingEmptySubsequences: false)
            let to = rule[arrow.upperBound...]
            guard !to.isEmpty, !from.contains(""), !to.contains(",") else {
                throw BadValue("takes rules such as a,b->c, not \(rule)")
            }
            for group in from { targets[String(group), default: []].append(String(to)) }
        }
        self.init(targets)
        for group in targets.keys.sorted() where derivedGroups(from: [group], excludingGiven: false).contains(group) {
            throw BadValue("has a cycle from \(group) to \(group)")
        }
    }

    /// The rules in canonical order, for comparing two mappings.
    var rules: [String] {
        targets.keys.sorted().map { group in "\(group)->\((targets[group] ?? []).sorted().joined(separator: ","))" }
    }

    /// Returns all groups that follow from the given ones, directly or not, without those.
    ///
    /// - Parameter groups: The groups to start from.
    /// - Returns: The groups that follow, each once.
    public func derivedGroups(from groups: [String]) -> [String] {
        derivedGroups(from: groups, excludingGiven: true)
    }

    private func derivedGroups(from groups: [String], excludingGiven: Bool) -> [String] {
        var seen: Set<String> = excludingGiven ? Set(groups) : []
        var result: [String] = []
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

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Groups that follow from other groups: with `a,b->c`, members of a or b are members of c too.
///
/// Mappings chain. One that leads back to where it began is refused. Source: the `group-mapping` property of GlassFish's
/// realms, of which only the LDAP realm applies it; here every realm does.
public struct GroupMapping: Sendable {
    /// Nothing follows from anything.
    public static let none = GroupMapping([:])

    private let targets: [String: [String]]

    private init(_ targets: [String: [String]]) {
        self.targets = targets
    }

    /// Whether nothing follows from anything.
    public var isEmpty: Bool { targets.isEmpty }

    /// Reads rules such as `a,b->c`.
    ///
    /// - Parameter rules: One rule a word, or several separated by `;`.
    /// - Throws: ``BadValue`` for a rule that is none, and for a circle.
    public init(rules: [String]) throws(BadValue) {
        var targets: [String: [String]] = [:]
        for rule in rules.flatMap({ $0.split(separator: ";") }) {
            guard let arrow = rule.utf8.firstRange(of: "->".utf8) else {
                throw BadValue("is made of rules such as a,b->c, and \(rule) is none")
            }
            let from = rule[..<arrow.lowerBound].split(separator: ",", omittingEmptySubsequences: false)
            let to = rule[arrow.upperBound...]
            guard !to.isEmpty, !from.contains(""), !to.contains(",") else {
                throw BadValue("is made of rules such as a,b->c, and \(rule) is none")
            }
            for group in from { targets[String(group), default: []].append(String(to)) }
        }
        self.init(targets)
        for group in targets.keys.sorted() where following(from: [group], skippingStart: false).contains(group) {
            throw BadValue("leads from \(group) back to \(group)")
        }
    }

    /// The rules, in an order of their own: two mappings with the same are the same.
    var rules: [String] {
        targets.keys.sorted().map { group in "\(group)->\((targets[group] ?? []).sorted().joined(separator: ","))" }
    }

    /// All groups that follow from these, directly or not, without the ones given.
    ///
    /// - Parameter groups: The groups to begin with.
    /// - Returns: The groups that follow, each once.
    public func following(from groups: [String]) -> [String] {
        following(from: groups, skippingStart: true)
    }

    private func following(from groups: [String], skippingStart: Bool) -> [String] {
        var seen: Set<String> = skippingStart ? Set(groups) : []
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

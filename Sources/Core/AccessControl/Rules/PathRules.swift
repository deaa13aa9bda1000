// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The rules of one path, each for different methods.
struct PathRules: Sendable {
    let isExact: Bool
    let segments: [UTF8Text]
    let rules: [ProtectionRules.CompiledRule]
    /// The methods of the rules, and HEAD if a rule names GET; empty if the rules name no methods.
    let allowed: [String]

    /// At least one rule, all with the same path and the same value of `isExact`.
    init(_ rules: [ProtectionRules.CompiledRule]) {
        isExact = rules.first?.rule.isExact ?? false
        // A slash with a combining mark is no separator of characters, but it is one of bytes.
        segments = rules.first.map { Self.segments(of: $0.rule.path) } ?? []
        self.rules = rules
        let methods = Set(rules.flatMap(\.rule.methods))
        allowed = (methods.contains("GET") ? methods.union(["HEAD"]) : methods).sorted()
    }

    private static func segments(of path: String) -> [UTF8Text] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { UTF8Text(repairing: Array($0).span) }
    }

    /// Exact rules apply only to their own path, others also to the paths below it.
    ///
    /// Segments are compared byte by byte.
    func matches(_ path: RequestPath) -> Bool {
        let count = path.segments.count
        guard isExact ? segments.count == count : segments.count <= count else { return false }
        for index in segments.indices where segments[index] != path.segments[index] { return false }
        return true
    }
}

/// A tree that finds the rules for a path in a time that does not depend on their number.
///
/// Each node stands for a path. A search visits one node for each segment of the request, and ends where the tree does.
struct PathTable: Sendable {
    private struct Node: Sendable {
        /// The index of the rules for exactly this path.
        var exact: Int?
        /// The index of the rules for this path and the paths below it.
        var below: Int?
        /// The node of each next segment.
        var children: [UTF8Text: Int] = [:]
    }

    /// The nodes; the first one stands for `/`.
    private var nodes = [Node()]

    /// Rules with the same path must differ in `isExact`.
    init(_ rules: [PathRules]) {
        for (index, rules) in rules.enumerated() {
            let node = insert(rules.segments)
            if rules.isExact { nodes[node].exact = index } else { nodes[node].below = index }
        }
    }

    /// Returns the index of the rules for exactly this path, or else of those for the longest path above it.
    func index(for path: RequestPath) -> Int? {
        var node = 0
        var found = nodes[0].below
        for segment in path.segments {
            guard let next = nodes[node].children[segment] else { return found }
            node = next
            if let below = nodes[node].below { found = below }
        }
        return nodes[node].exact ?? found
    }

    private mutating func insert(_ segments: [UTF8Text]) -> Int {
        var node = 0
        for segment in segments {
            if let next = nodes[node].children[segment] {
                node = next
                continue
            }
            nodes[node].children[segment] = nodes.count
            node = nodes.count
            nodes.append(Node())
        }
        return node
    }
}

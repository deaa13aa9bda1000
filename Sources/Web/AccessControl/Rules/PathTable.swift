// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A tree that finds the rules for a path.
///
/// Each node stands for a path. A search visits one node for each segment of the request, and ends where the tree does, so
/// its time does not depend on the number of rules.
struct PathTable: Sendable {
    private struct Node: Sendable {
        /// The index of the rules for exactly this path; nil if there are none.
        var exact: Int?
        /// The index of the rules for this path and the paths below it; nil if there are none.
        var below: Int?
        var segments: [UTF8Text] = []
        /// The node of each segment.
        var nodes: [Int] = []
        /// The node of each segment, if there are many; empty otherwise.
        var table: [UTF8Text: Int] = [:]

        func child(_ segment: UTF8Text) -> Int? {
            if !table.isEmpty { return table[segment] }
            for index in segments.indices where segments[index] == segment { return nodes[index] }
            return nil
        }
    }

    /// The largest number of segments that are compared one by one; hashing takes longer for so few.
    private static let linearCount = 8

    /// The nodes; the first one stands for `/`.
    private var nodes = [Node()]

    /// The table of rules.
    ///
    /// - Parameter rules: The rules. Rules with the same path must differ in `isExact`.
    init(_ rules: [PathRules]) {
        for (index, rules) in rules.enumerated() {
            let node = insert(rules.segments)
            if rules.isExact { nodes[node].exact = index } else { nodes[node].below = index }
        }
    }

    /// Returns the index of the rules that decide about a path: those for exactly this path, or else those for the longest
    /// path; nil if there are none.
    func index(for path: RequestPath) -> Int? {
        var node = 0
        var found = nodes[0].below
        for segment in path.segments {
            guard let next = nodes[node].child(segment) else { return found }
            node = next
            if let below = nodes[node].below { found = below }
        }
        return nodes[node].exact ?? found
    }

    private mutating func insert(_ segments: [UTF8Text]) -> Int {
        var node = 0
        for segment in segments {
            if let next = nodes[node].child(segment) {
                node = next
                continue
            }
            let next = nodes.count
            nodes.append(Node())
            nodes[node].segments.append(segment)
            nodes[node].nodes.append(next)
            if !nodes[node].table.isEmpty {
                nodes[node].table[segment] = next
            } else if nodes[node].segments.count > Self.linearCount {
                nodes[node].table = Dictionary(uniqueKeysWithValues: zip(nodes[node].segments, nodes[node].nodes))
            }
            node = next
        }
        return node
    }
}

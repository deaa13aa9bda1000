// SPDX-License-Identifier: Apache-2.0

/// Sets of variables of which none contains another.
package struct MinimalSets {
    /// The maximum number of sets of a function, beyond which they are not listed.
    package static let maximumCount = 500

    /// The sets, the smallest first, each in the order of the variables.
    package let sets: [[Int]]
}

extension DecisionDiagrams {
    /// Returns the minimal sets of variables that must have one of some values where a function is true; nil if they are too
    /// many.
    ///
    /// For `values` of success: a login is granted only if all modules of one of these sets succeed, and each set can be
    /// enough, if the other modules answer suitably, without a success. `allowed` returns the values of a variable that are
    /// considered at all; nil for all.
    package func minimalSets(of node: Node, values: Set<Int>, allowed: ((Int) -> Set<Int>)? = nil) -> MinimalSets? {
        var known: [Node: [BitSet]] = [.no: [], .yes: [BitSet()]]
        guard let sets = minimalSets(of: node, values: values, allowed: allowed, known: &known) else { return nil }
        let lists = sets.map(\.members).sorted {
            $0.count == $1.count ? $0.lexicographicallyPrecedes($1) : $0.count < $1.count
        }
        return MinimalSets(sets: lists)
    }

    private func minimalSets(
        of node: Node,
        values: Set<Int>,
        allowed: ((Int) -> Set<Int>)?,
        known: inout [Node: [BitSet]]
    ) -> [BitSet]? {
        if let sets = known[node] { return sets }
        guard let (variable, children) = branch(node) else { return nil }
        let possible = allowed?(variable)
        var sets: [BitSet] = []
        // Those that need no value of this variable first: they may be parts of those that do.
        for needsValue in [false, true] {
            var seen: Set<Node> = []
            for (value, child) in children.enumerated()
            where values.contains(value) == needsValue && possible?.contains(value) ?? true {
                guard seen.insert(child).inserted else { continue }
                guard let inner = minimalSets(of: child, values: values, allowed: allowed, known: &known) else {
                    return nil
                }
                for var set in inner {
                    if needsValue { set.insert(variable) }
                    guard !sets.contains(where: { $0.isSubset(of: set) }) else { continue }
                    sets.removeAll { set.isSubset(of: $0) }
                    sets.append(set)
                    guard sets.count <= MinimalSets.maximumCount else { return nil }
                }
            }
        }
        known[node] = sets
        return sets
    }
}

/// A set of small numbers.
private struct BitSet {
    private var words: [UInt64] = []

    mutating func insert(_ number: Int) {
        while words.count <= number / 64 { words.append(0) }
        words[number / 64] |= 1 << UInt64(number % 64)
    }

    func isSubset(of other: BitSet) -> Bool {
        for index in words.indices {
            let theirs = index < other.words.count ? other.words[index] : 0
            if words[index] & ~theirs != 0 { return false }
        }
        return true
    }

    var members: [Int] {
        (0..<(words.count * 64)).filter { words[$0 / 64] & (1 << UInt64($0 % 64)) != 0 }
    }
}

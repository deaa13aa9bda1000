// SPDX-License-Identifier: Apache-2.0

/// Functions of the answers of modules, as reduced ordered decision diagrams: equal functions are the same node.
///
/// A variable stands for the answer of one module; all variables have the same number of values. The size of a diagram
/// grows with the number of different states of a stack, not with the number of combinations of answers.
///
/// Source: R. Bryant, Graph-Based Algorithms for Boolean Function Manipulation (1986), for variables of many values.
package struct DecisionDiagrams {
    /// A function; the two constants are ``no`` and ``yes``.
    package struct Node: Hashable {
        fileprivate let index: Int32
        /// The function that is false for all answers.
        package static let no = Node(index: 0)
        /// The function that is true for all answers.
        package static let yes = Node(index: 1)
    }

    /// The functions have become too large.
    package struct TooLarge: Error {}

    private struct Branch: Hashable {
        let variable: Int
        let children: [Node]
    }

    private enum Operation: Hashable { case and, or, butNot }

    private struct Application: Hashable {
        let operation: Operation
        let left: Node
        let right: Node
    }

    /// The maximum number of nodes.
    package static let maximumNodes = 400_000

    /// The maximum number of results of operations that are kept.
    private static let maximumResults = 1_000_000

    /// The number of values of a variable.
    let valueCount: Int
    private let limit: Int
    private var branches = [Branch(variable: .max, children: []), Branch(variable: .max, children: [])]
    private var nodes: [Branch: Node] = [:]
    private var results: [Application: Node] = [:]

    /// Creates an empty set of functions, of which a test may allow fewer nodes.
    package init(valueCount: Int, limit: Int = maximumNodes) { (self.valueCount, self.limit) = (valueCount, limit) }

    /// Returns the variable that a function depends on first, and the functions for its values; nil for a constant.
    func branch(_ node: Node) -> (variable: Int, children: [Node])? {
        let branch = branches[Int(node.index)]
        return branch.children.isEmpty ? nil : (branch.variable, branch.children)
    }

    /// Returns the function that is the child of a variable's value.
    mutating func choice(of variable: Int, _ children: [Node]) throws(TooLarge) -> Node {
        guard children.contains(where: { branches[Int($0.index)].variable <= variable }) else {
            return try node(variable, children)
        }
        // A child depends on variables that come before this one in the order.
        var result = Node.no
        for value in children.indices {
            var chosen = Array(repeating: Node.no, count: valueCount)
            chosen[value] = .yes
            let isChosen = try node(variable, chosen)
            result = try or(result, try and(isChosen, children[value]))
        }
        return result
    }

    private mutating func node(_ variable: Int, _ children: [Node]) throws(TooLarge) -> Node {
        if let first = children.first, children.allSatisfy({ $0 == first }) { return first }
        let branch = Branch(variable: variable, children: children)
        if let known = nodes[branch] { return known }
        guard branches.count < limit else { throw TooLarge() }
        let node = Node(index: Int32(branches.count))
        branches.append(branch)
        nodes[branch] = node
        return node
    }

    // MARK: Operations

    package mutating func and(_ left: Node, _ right: Node) throws(TooLarge) -> Node { try apply(.and, left, right) }

    package mutating func or(_ left: Node, _ right: Node) throws(TooLarge) -> Node { try apply(.or, left, right) }

    /// Returns the function that is true where the first is and the second is not.
    package mutating func difference(_ left: Node, _ right: Node) throws(TooLarge) -> Node {
        try apply(.butNot, left, right)
    }

    private mutating func apply(_ operation: Operation, _ left: Node, _ right: Node) throws(TooLarge) -> Node {
        switch (operation, left, right) {
        case (.and, .no, _), (.and, _, .no), (.butNot, .no, _), (.butNot, _, .yes): return .no
        case (.and, .yes, let other), (.and, let other, .yes), (.or, .no, let other), (.or, let other, .no),
            (.butNot, let other, .no):
            return other
        case (.or, .yes, _), (.or, _, .yes): return .yes
        default: break
        }
        if left == right { return operation == .butNot ? .no : left }
        let application = Application(operation: operation, left: left, right: right)
        if let known = results[application] { return known }
        guard results.count < Self.maximumResults else { throw TooLarge() }
        let (first, second) = (branches[Int(left.index)], branches[Int(right.index)])
        let variable = min(first.variable, second.variable)
        var children: [Node] = []
        children.reserveCapacity(valueCount)
        for value in 0..<valueCount {
            let child = try apply(
                operation,
                first.variable == variable ? first.children[value] : left,
                second.variable == variable ? second.children[value] : right
            )
            children.append(child)
        }
        let result = try node(variable, children)
        results[application] = result
        return result
    }

    /// Returns a function in which some variables have a fixed value.
    package mutating func fixing(
        _ node: Node,
        _ value: Int,
        of variables: Set<Int>
    ) throws(TooLarge) -> Node {
        var known: [Node: Node] = [:]
        return try fixing(node, value, of: variables, known: &known)
    }

    private mutating func fixing(
        _ node: Node,
        _ value: Int,
        of variables: Set<Int>,
        known: inout [Node: Node]
    ) throws(TooLarge) -> Node {
        guard let (variable, children) = branch(node) else { return node }
        if let result = known[node] { return result }
        let result: Node
        if variables.contains(variable) {
            result = try fixing(children[value], value, of: variables, known: &known)
        } else {
            var fixed: [Node] = []
            for child in children { fixed.append(try fixing(child, value, of: variables, known: &known)) }
            result = try self.node(variable, fixed)
        }
        known[node] = result
        return result
    }

    // MARK: Questions

    /// Returns the variables that a function depends on.
    package func support(of node: Node) -> Set<Int> {
        var (variables, seen, open): (Set<Int>, Set<Node>, [Node]) = ([], [], [node])
        while let node = open.popLast() {
            guard seen.insert(node).inserted, let (variable, children) = branch(node) else { continue }
            variables.insert(variable)
            open += children
        }
        return variables
    }

    /// Returns values for which a function is true, preferring values in an order; nil if it never is.
    ///
    /// Variables that do not matter have no value.
    package func example(of node: Node, preferring order: [Int]) -> [Int: Int]? {
        guard node != .no else { return nil }
        var (node, values): (Node, [Int: Int]) = (node, [:])
        while let (variable, children) = branch(node), let value = order.first(where: { children[$0] != .no }) {
            values[variable] = value
            node = children[value]
        }
        return values
    }

    /// Returns the values for which a function is true that differ least from given ones, by the sum of `cost`; nil if it
    /// never is.
    func nearest(to node: Node, cost: (_ variable: Int, _ value: Int) -> Int) -> [Int: Int]? {
        var known: [Node: (cost: Int, value: Int)] = [.yes: (0, 0)]
        guard node != .no else { return nil }
        _ = leastCost(of: node, cost, known: &known)
        var (node, values): (Node, [Int: Int]) = (node, [:])
        while let (variable, children) = branch(node), let value = known[node]?.value {
            values[variable] = value
            node = children[value]
        }
        return values
    }

    private func leastCost(
        of node: Node,
        _ cost: (_ variable: Int, _ value: Int) -> Int,
        known: inout [Node: (cost: Int, value: Int)]
    ) -> Int? {
        if let result = known[node] { return result.cost }
        guard let (variable, children) = branch(node) else { return nil }
        var least: (cost: Int, value: Int)?
        for (value, child) in children.enumerated() {
            guard let inner = leastCost(of: child, cost, known: &known) else { continue }
            let total = inner + cost(variable, value)
            if total < least?.cost ?? .max { least = (total, value) }
        }
        if let least { known[node] = least }
        return least?.cost
    }
}

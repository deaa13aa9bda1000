// SPDX-License-Identifier: Apache-2.0

/// The path to a value in JSON: a JSON Pointer (RFC 6901) in which `*` stands for all elements of an array, or all
/// members of an object that no other path names.
///
/// `/user/name` is the member `name` of the member `user`. `/groups/*/name` is the member `name` of each element of the
/// array `groups`. In a name, `~1` stands for `/` and `~0` for `~`.
package struct JSONPath: Sendable, Hashable {
    /// A step from a value to a value in it.
    package enum Step: Sendable, Hashable {
        /// The member of an object with this name.
        case member(UTF8Text)
        /// All elements of an array, or all members of an object.
        case elements
    }

    /// The maximum number of steps.
    package static let maximumSteps = 16

    /// The steps from the whole text to the value.
    package let steps: [Step]

    /// Reads a path; nil if it does not begin with `/`, has an invalid `~`, more than one `*`, or too many steps.
    package init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count <= 1024 else { return nil }
        var steps: [Step] = []
        let parts = text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for part in parts {
            if part.elementsEqual("*".utf8) {
                steps.append(.elements)
                continue
            }
            guard let name = Self.name(Array(part)) else { return nil }
            steps.append(.member(name))
        }
        guard steps.count <= Self.maximumSteps, steps.count(where: { $0 == .elements }) <= 1 else { return nil }
        self.steps = steps
    }

    private static func name(_ part: [UInt8]) -> UTF8Text? {
        var bytes: [UInt8] = []
        var index = 0
        while index < part.count {
            guard part[index] == UInt8(ascii: "~") else {
                bytes.append(part[index])
                index += 1
                continue
            }
            guard index + 1 < part.count else { return nil }
            switch part[index + 1] {
            case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
            case _: return nil
            }
            index += 2
        }
        return String(validating: bytes, as: UTF8.self).map { UTF8Text($0) }
    }
}

/// The values that a ``JSONReader`` has found at one path.
package struct JSONValues: Sendable, Hashable {
    /// The strings, in order.
    package internal(set) var strings: [String] = []
    /// The name of the member that `*` stands for, for each string; nil if it stands for an element.
    package internal(set) var names: [UTF8Text?] = []
    /// True if there is a value at the path, or an array or object whose elements `*` stands for.
    package internal(set) var isPresent = false
    /// True if a value at the path is not a string and not an array of strings.
    package internal(set) var hasWrongType = false
    /// True if a value at the path is an array.
    package internal(set) var hasArray = false
    /// The number of elements or members that `*` stands for.
    package internal(set) var elements = 0

    /// Creates the values of a path that was not found.
    package init() {}

    /// Returns whether some of the elements through which the path of these values leads have no value.
    package func isIncomplete(for path: JSONPath) -> Bool {
        path.steps.contains(.elements) && elements != strings.count
    }
}

package enum JSONMediaType {
    /// Returns whether a `Content-Type` is JSON: `application/json` or `application/...+json` (RFC 6839 3.1).
    package static func isJSON(_ text: String) -> Bool {
        let type = text.prefix { $0 != ";" && $0 != " " }.lowercased()
        return type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json")
    }
}

extension StringProtocol {
    /// Returns JSON text of the same value with some characters written as `\u....` (RFC 8259 section 7).
    ///
    /// Characters to escape must be below U+10000, and must appear only in strings of the JSON text.
    package func escapingCharactersOfJSON(where isEscaped: (Unicode.Scalar) -> Bool) -> String {
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            guard isEscaped(scalar) else {
                result.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars
        }
        return String(result)
    }
}

/// The paths of a reader as a tree.
struct JSONPathTree: Sendable {
    struct Node: Sendable {
        var members: [UTF8Text: Int] = [:]
        var elements: Int?
        /// The numbers of the paths that end here.
        var ends: [Int] = []
    }

    private(set) var nodes = [Node()]

    init(_ paths: [JSONPath]) {
        for (number, path) in paths.enumerated() {
            var node = 0
            for step in path.steps { node = child(of: node, step) }
            nodes[node].ends.append(number)
        }
    }

    private mutating func child(of node: Int, _ step: JSONPath.Step) -> Int {
        switch step {
        case .member(let name):
            if let known = nodes[node].members[name] { return known }
            nodes.append(Node())
            nodes[node].members[name] = nodes.count - 1
        case .elements:
            if let known = nodes[node].elements { return known }
            nodes.append(Node())
            nodes[node].elements = nodes.count - 1
        }
        return nodes.count - 1
    }

    /// Returns the numbers of all paths that lead through a node or end there.
    func paths(through node: Int) -> [Int] {
        var result = nodes[node].ends
        for child in nodes[node].members.values { result += paths(through: child) }
        if let child = nodes[node].elements { result += paths(through: child) }
        return result
    }
}

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

/// The values that were found at one path.
package struct JSONValues: Sendable, Hashable {
    /// The maximum number of strings that are kept, of all paths.
    package static let maximumStrings = 10_000

    /// The strings, in order.
    package fileprivate(set) var strings: [String] = []
    /// The name of the member that `*` stands for, for each string; nil if it stands for an element.
    package fileprivate(set) var names: [UTF8Text?] = []
    /// True if there is a value at the path, or an array or object whose elements `*` stands for.
    package fileprivate(set) var isPresent = false
    /// True if a value at the path is not a string and not an array of strings.
    package fileprivate(set) var hasWrongType = false
    /// The number of elements or members that `*` stands for.
    package fileprivate(set) var elements = 0

    /// Creates the values of a path that was not found.
    package init() {}

    /// Returns whether some of the elements through which the path of these values leads have no value.
    package func isIncomplete(for path: JSONPath) -> Bool {
        path.steps.contains(.elements) && elements != strings.count
    }

    /// Reads a whole text, and returns the values at each of the paths.
    package static func read(_ paths: [JSONPath], in bytes: Span<UInt8>) throws(JSONFault) -> [JSONValues] {
        var finder = PathFinder(paths)
        try finder.read(bytes, PathFinder.Place(paths: Array(paths.indices)))
        try finder.reader.finish(bytes)
        return finder.values
    }
}

/// Keeps the values of some paths while a text is read.
private struct PathFinder {
    /// A place in the text to which some paths lead.
    struct Place {
        /// The paths that lead here, or through here, and the number of their steps up to here.
        var paths: [Int]
        var depth = 0
        /// The paths that end at the array around the place, and so collect its strings.
        var collecting: [Int] = []
        var isElement = false
        /// True if `*` stands for the last step.
        var isWildcard = false
        /// The name of the member that `*` stands for.
        var name: UTF8Text?
    }

    let paths: [JSONPath]
    var reader = JSONReader()
    var values: [JSONValues]
    private var stringCount = 0

    init(_ paths: [JSONPath]) {
        self.paths = paths
        values = paths.map { _ in JSONValues() }
    }

    mutating func read(_ bytes: Span<UInt8>, _ place: Place) throws(JSONFault) {
        guard !place.paths.isEmpty || !place.collecting.isEmpty else { return try reader.skip(bytes) }
        if place.isWildcard { for path in place.paths { values[path].elements += 1 } }
        let ends = place.paths.filter { paths[$0].steps.count == place.depth }
        let value = try reader.value(bytes)
        // Null is the same as no value, except in an array.
        if case .null = value {
            reject(place.collecting)
            return
        }
        for path in place.collecting + ends { values[path].isPresent = true }
        switch value {
        case .string(let string): try keep(JSONReader.text(string, of: bytes), at: place.collecting + ends, place.name)
        case .number, .boolean, .null: reject(place.collecting + ends)
        case .object:
            reject(place.collecting + ends)
            try readMembers(bytes, of: place)
        case .array:
            // Neither an array in an array nor an array as an element has a meaning.
            reject(place.collecting + (place.isElement ? ends : []))
            var element = Place(paths: markElements(of: place), depth: place.depth + 1, name: place.name)
            element.collecting = place.isElement ? [] : ends
            (element.isElement, element.isWildcard) = (true, true)
            while try reader.element(bytes) { try read(bytes, element) }
        }
    }

    private mutating func readMembers(_ bytes: Span<UInt8>, of place: Place) throws(JSONFault) {
        let others = markElements(of: place)
        while let name = try reader.member(bytes) {
            var member = Place(paths: next(place, .member(name)), depth: place.depth + 1, name: place.name)
            if member.paths.isEmpty, !others.isEmpty {
                (member.paths, member.isWildcard, member.name) = (others, true, name)
            }
            try read(bytes, member)
        }
    }

    private func next(_ place: Place, _ step: JSONPath.Step) -> [Int] {
        place.paths.filter { paths[$0].steps.count > place.depth && paths[$0].steps[place.depth] == step }
    }

    /// Returns the paths on which `*` follows.
    private mutating func markElements(of place: Place) -> [Int] {
        let following = next(place, .elements)
        for path in following { values[path].isPresent = true }
        return following
    }

    private mutating func reject(_ rejected: [Int]) {
        for path in rejected { values[path].hasWrongType = true }
    }

    private mutating func keep(_ string: String, at ends: [Int], _ name: UTF8Text?) throws(JSONFault) {
        for path in ends {
            stringCount += 1
            guard stringCount <= JSONValues.maximumStrings else {
                let maximum = JSONValues.maximumStrings
                throw JSONFault(.tooMany, "more than \(maximum) values", at: reader.start)
            }
            values[path].strings.append(string)
            values[path].names.append(name)
        }
    }
}

/// The bodies of requests to the realm API, the session API and the pages of a server.
package enum APIRequestBody {
    /// The maximum length of a body that a server reads, in bytes; see docs/realm-api.md.
    package static let maximumBytes = 32_768
}

package enum JSONMediaType {
    /// Returns whether a `Content-Type` is JSON: `application/json` or `application/...+json` (RFC 6839 3.1).
    package static func isJSON(_ text: String) -> Bool {
        let type = text.prefix { $0 != ";" && $0 != " " }.lowercased()
        return type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json")
    }
}

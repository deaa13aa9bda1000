// SPDX-License-Identifier: Apache-2.0

/// A reader of JSON (RFC 8259) that takes the text in parts of any size, and keeps the values of some paths.
///
/// It accepts one value, with white space around it. It rejects a member name that occurs twice in an object, invalid
/// UTF-8, lone surrogates, more than ``maximumDepth`` levels and more than ``maximumNames`` names in all. It keeps at
/// most ``maximumStrings`` strings; the length of the text must be limited by the caller.
package struct JSONReader {
    /// A text is not JSON, or exceeds a limit.
    package struct Fault: Error, Hashable, CustomStringConvertible {
        /// The place and the cause, without text of the body.
        package let description: String
        /// The number of bytes before the error.
        package let offset: Int

        package init(description: String, offset: Int) {
            self.description = description
            self.offset = offset
        }
    }

    /// The maximum number of levels.
    package static let maximumDepth = 32
    /// The maximum number of member names, unless the caller sets another.
    package static let maximumNames = 20_000
    /// The maximum number of strings that are kept.
    package static let maximumStrings = 10_000

    /// An object or an array whose end was not read yet.
    private struct Level {
        let isObject: Bool
        /// The node of the path tree; nil if no path leads here.
        let node: Int?
        /// The paths that end at this array, and so collect its strings.
        let ends: [Int]
        var names: Set<UTF8Text> = []
        /// The node of the member whose value follows.
        var memberNode: Int?
        /// The name of the member whose value follows, if `*` stands for it.
        var wildcardName: UTF8Text?
    }

    private enum State {
        case value
        /// A value, or the end of an array that has no element yet.
        case valueOrEnd
        case name
        /// A name, or the end of an object that has no member yet.
        case nameOrEnd
        case colon
        /// A comma, or the end of the object or array.
        case comma
        case string(isName: Bool)
        case escape(isName: Bool)
        case unicode(isName: Bool, digits: Int, unit: UInt32)
        case literal(StaticString, Int)
        case number(NumberState)
        /// Only white space may follow.
        case end
    }

    private enum NumberState { case minus, zero, integer, point, fraction, exponent, sign, power }

    private let tree: JSONPathTree
    private let maximumNames: Int
    private var state = State.value
    private var levels: [Level] = []
    private var text: [UInt8] = []
    /// The first half of a surrogate pair.
    private var surrogate: UInt32?
    private var offset = 0
    private var nameCount = 0
    private var stringCount = 0
    /// The values found so far, one for each path.
    package private(set) var values: [JSONValues]

    /// Creates a reader of one text that keeps the values of these paths.
    package init(_ paths: [JSONPath], maximumNames: Int = Self.maximumNames) {
        self.maximumNames = maximumNames
        tree = JSONPathTree(paths)
        values = Array(repeating: JSONValues(), count: paths.count)
    }

    /// True if the next byte belongs to a string that is not a name, and is not part of an escape sequence.
    package var isInStringValue: Bool {
        guard case .string(isName: false) = state else { return false }
        return surrogate == nil
    }

    /// Reads the next part, which may end anywhere.
    package mutating func read(_ bytes: Span<UInt8>) throws(Fault) {
        for index in bytes.indices {
            try take(bytes[index])
            offset += 1
        }
    }

    /// Checks that the text is complete.
    package mutating func finish() throws(Fault) {
        if case .number(let number) = state, levels.isEmpty { try end(number) }
        guard case .end = state else { throw fault("the text is not complete") }
    }

    private func fault(_ text: String) -> Fault { Fault(description: "byte \(offset): \(text)", offset: offset) }

    // MARK: Structure

    private mutating func take(_ byte: UInt8) throws(Fault) {
        switch state {
        case .string(let isName): return try takeCharacter(byte, isName: isName)
        case .escape(let isName): return try takeEscape(byte, isName: isName)
        case .unicode(let isName, let digits, let unit):
            return try takeDigit(byte, isName: isName, digits: digits, unit: unit)
        case .literal(let literal, let index): return try takeLiteral(byte, of: literal, at: index)
        case .number(let number):
            if let next = Self.next(number, byte) {
                state = .number(next)
                return
            }
            try end(number)
        case .value, .valueOrEnd, .name, .nameOrEnd, .colon, .comma, .end: break
        }
        try takeStructure(byte)
    }

    private mutating func takeStructure(_ byte: UInt8) throws(Fault) {
        if byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { return }
        switch (state, byte) {
        case (.valueOrEnd, UInt8(ascii: "]")), (.nameOrEnd, UInt8(ascii: "}")): close()
        case (.comma, UInt8(ascii: "]")) where levels.last?.isObject == false: close()
        case (.comma, UInt8(ascii: "}")) where levels.last?.isObject == true: close()
        case (.comma, UInt8(ascii: ",")): state = levels.last?.isObject == true ? .name : .value
        case (.colon, UInt8(ascii: ":")): state = .value
        case (.name, UInt8(ascii: "\"")), (.nameOrEnd, UInt8(ascii: "\"")): state = .string(isName: true)
        case (.value, _), (.valueOrEnd, _): try begin(byte)
        case _: throw fault("a character that is not expected here")
        }
    }

    private mutating func begin(_ byte: UInt8) throws(Fault) {
        let (node, ends) = place()
        if byte != UInt8(ascii: "n") { for path in ends + nodeEnds(node) { values[path].isPresent = true } }
        if let level = levels.last, !level.isObject || level.wildcardName != nil, let node {
            for path in tree.paths(through: node) { values[path].elements += 1 }
        }
        switch byte {
        case UInt8(ascii: "\""): state = .string(isName: false)
        case UInt8(ascii: "{"):
            reject(ends + nodeEnds(node))
            markPresent(elementsOf: node)
            try open(Level(isObject: true, node: node, ends: []))
            state = .nameOrEnd
        case UInt8(ascii: "["):
            // An array in an array, and an array where each element must be a string.
            reject(ends)
            for path in nodeEnds(node) { values[path].hasArray = true }
            let isElement = levels.last?.isObject == false
            if isElement { reject(nodeEnds(node)) }
            markPresent(elementsOf: node)
            try open(Level(isObject: false, node: node, ends: isElement ? [] : nodeEnds(node)))
            state = .valueOrEnd
        case UInt8(ascii: "t"): startScalar(.literal("true", 1), ends + nodeEnds(node))
        case UInt8(ascii: "f"): startScalar(.literal("false", 1), ends + nodeEnds(node))
        case UInt8(ascii: "n"):
            // Null is the same as no value, except in an array.
            reject(ends)
            state = .literal("null", 1)
        case UInt8(ascii: "-"): startScalar(.number(.minus), ends + nodeEnds(node))
        case UInt8(ascii: "0"): startScalar(.number(.zero), ends + nodeEnds(node))
        case UInt8(ascii: "1")...UInt8(ascii: "9"): startScalar(.number(.integer), ends + nodeEnds(node))
        case _: throw fault("a value is expected here")
        }
    }

    private mutating func startScalar(_ next: State, _ paths: [Int]) {
        reject(paths)
        state = next
    }

    private mutating func markPresent(elementsOf node: Int?) {
        guard let elements = node.flatMap({ tree.nodes[$0].elements }) else { return }
        for path in tree.paths(through: elements) { values[path].isPresent = true }
    }

    private mutating func reject(_ paths: [Int]) {
        for path in paths { values[path].hasWrongType = true }
    }

    /// Returns the node of the value that follows, and the paths that collect the strings of the array around it.
    private func place() -> (node: Int?, ends: [Int]) {
        guard let level = levels.last else { return (0, []) }
        if level.isObject { return (level.memberNode, []) }
        return (level.node.flatMap { tree.nodes[$0].elements }, level.ends)
    }

    private func nodeEnds(_ node: Int?) -> [Int] { node.map { tree.nodes[$0].ends } ?? [] }

    private mutating func open(_ level: Level) throws(Fault) {
        guard levels.count < Self.maximumDepth else { throw fault("more than \(Self.maximumDepth) levels") }
        levels.append(level)
    }

    private mutating func close() {
        levels.removeLast()
        endValue()
    }

    private mutating func endValue() { state = levels.isEmpty ? .end : .comma }

    // MARK: Strings

    private mutating func takeCharacter(_ byte: UInt8, isName: Bool) throws(Fault) {
        switch byte {
        case UInt8(ascii: "\\"): state = .escape(isName: isName)
        case UInt8(ascii: "\""):
            guard surrogate == nil else { throw fault("a lone surrogate") }
            try endString(isName: isName)
        case 0..<0x20: throw fault("a control character in a string")
        case _:
            guard surrogate == nil else { throw fault("a lone surrogate") }
            text.append(byte)
        }
    }

    private mutating func takeEscape(_ byte: UInt8, isName: Bool) throws(Fault) {
        if byte == UInt8(ascii: "u") {
            state = .unicode(isName: isName, digits: 0, unit: 0)
            return
        }
        guard surrogate == nil else { throw fault("a lone surrogate") }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case _: throw fault("an unknown escape sequence")
        }
        state = .string(isName: isName)
    }

    private mutating func takeDigit(_ byte: UInt8, isName: Bool, digits: Int, unit: UInt32) throws(Fault) {
        guard let digit = Hexadecimal.value(of: byte) else { throw fault("an invalid \\u sequence") }
        let unit = unit << 4 | UInt32(digit)
        guard digits == 3 else {
            state = .unicode(isName: isName, digits: digits + 1, unit: unit)
            return
        }
        state = .string(isName: isName)
        if let high = surrogate {
            guard (0xDC00..<0xE000).contains(unit),
                let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (unit - 0xDC00))
            else { throw fault("a lone surrogate") }
            surrogate = nil
            text += Array(UTF8.encode(scalar) ?? .init())
        } else if (0xD800..<0xDC00).contains(unit) {
            surrogate = unit
        } else {
            guard let scalar = Unicode.Scalar(unit) else { throw fault("a lone surrogate") }
            text += Array(UTF8.encode(scalar) ?? .init())
        }
    }

    private mutating func endString(isName: Bool) throws(Fault) {
        guard let string = String(validating: text, as: UTF8.self) else { throw fault("invalid UTF-8") }
        text.removeAll(keepingCapacity: true)
        if isName {
            try endName(UTF8Text(string))
            return
        }
        let (node, ends) = place()
        for path in ends + nodeEnds(node) {
            stringCount += 1
            guard stringCount <= Self.maximumStrings else { throw fault("more than \(Self.maximumStrings) values") }
            values[path].strings.append(string)
            values[path].names.append(levels.last { $0.wildcardName != nil }?.wildcardName)
        }
        endValue()
    }

    private mutating func endName(_ name: UTF8Text) throws(Fault) {
        guard var level = levels.popLast() else { return }
        guard level.names.insert(name).inserted else { throw fault("a name that occurs twice") }
        nameCount += 1
        guard nameCount <= maximumNames else { throw fault("more than \(maximumNames) names") }
        let node = level.node.map { tree.nodes[$0] }
        level.memberNode = node?.members[name] ?? node?.elements
        level.wildcardName = node?.members[name] == nil && node?.elements != nil ? name : nil
        levels.append(level)
        state = .colon
    }

    // MARK: Numbers and literals

    private mutating func takeLiteral(_ byte: UInt8, of literal: StaticString, at index: Int) throws(Fault) {
        let expected = Array(literal.description.utf8)
        guard byte == expected[index] else { throw fault("a value is expected here") }
        if index + 1 == expected.count { endValue() } else { state = .literal(literal, index + 1) }
    }

    /// Returns the state after the next character of a number (RFC 8259 6); nil if the character does not belong to it.
    private static func next(_ state: NumberState, _ byte: UInt8) -> NumberState? {
        let isDigit = ASCII.isDigit(byte)
        switch (state, byte) {
        case (.minus, UInt8(ascii: "0")): return .zero
        case (.minus, _): return isDigit ? .integer : nil
        case (.integer, _) where isDigit: return .integer
        case (.zero, UInt8(ascii: ".")), (.integer, UInt8(ascii: ".")): return .point
        case (.point, _): return isDigit ? .fraction : nil
        case (.fraction, _) where isDigit: return .fraction
        case (.zero, UInt8(ascii: "e")), (.zero, UInt8(ascii: "E")), (.integer, UInt8(ascii: "e")),
            (.integer, UInt8(ascii: "E")), (.fraction, UInt8(ascii: "e")), (.fraction, UInt8(ascii: "E")):
            return .exponent
        case (.exponent, UInt8(ascii: "+")), (.exponent, UInt8(ascii: "-")): return .sign
        case (.exponent, _), (.sign, _), (.power, _): return isDigit ? .power : nil
        case _: return nil
        }
    }

    private mutating func end(_ number: NumberState) throws(Fault) {
        switch number {
        case .zero, .integer, .fraction, .power: endValue()
        case .minus, .point, .exponent, .sign: throw fault("an incomplete number")
        }
    }
}

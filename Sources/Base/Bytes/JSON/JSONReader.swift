// SPDX-License-Identifier: Apache-2.0

/// A reader of JSON (RFC 8259) from which the caller takes one value after the other; every string is checked.
///
/// It rejects a member name that occurs twice in an object, invalid UTF-8, lone surrogates, more than ``maximumDepth``
/// levels and too many names. The length of the text must be limited by the caller, who passes the same bytes to every
/// call.
package struct JSONReader {
    /// The beginning of a value, or the whole value if it has no parts.
    package enum Value {
        /// Its members are read with ``member(_:)``, until that is nil.
        case object
        /// Its elements are read after each ``element(_:)``, until that is false.
        case array
        /// The bytes between the quotation marks, for ``text(_:of:)``.
        case string(Range<Int>)
        case number(Range<Int>)
        case boolean(Bool)
        case null
    }

    /// The maximum number of levels.
    package static let maximumDepth = 32
    /// The maximum number of member names, unless the caller sets another.
    package static let maximumNames = 20_000

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private let maximumNames: Int
    private let acceptsNUL: Bool
    private var position = 0
    /// The offset at which the last value begins.
    package private(set) var start = 0
    /// The names so far of each open object, none for an array, and whether a member or an element was read.
    private var levels: [(names: Set<UTF8Text>, isBegun: Bool)] = []
    private var nameCount = 0

    /// Creates a reader of one text; without `acceptsNUL`, a string with the character U+0000 is rejected.
    package init(maximumNames: Int = Self.maximumNames, acceptsNUL: Bool = true) {
        (self.maximumNames, self.acceptsNUL) = (maximumNames, acceptsNUL)
    }

    /// Reads the next value, or its beginning.
    package mutating func value(_ bytes: Span<UInt8>) throws(JSONFault) -> Value {
        let first = peek(bytes)
        start = position
        switch first {
        case UInt8(ascii: "{"):
            try open()
            return .object
        case UInt8(ascii: "["):
            try open()
            return .array
        case Self.quote: return .string(try string(bytes))
        case UInt8(ascii: "t"):
            try literal("true", bytes)
            return .boolean(true)
        case UInt8(ascii: "f"):
            try literal("false", bytes)
            return .boolean(false)
        case UInt8(ascii: "n"):
            try literal("null", bytes)
            return .null
        case let byte? where byte == UInt8(ascii: "-") || ASCII.isDigit(byte): return .number(try number(bytes))
        case _: throw unexpected(bytes, "a value is expected here")
        }
    }

    /// Reads the name of the next member of an object, whose value follows; nil at the end of the object.
    package mutating func member(_ bytes: Span<UInt8>) throws(JSONFault) -> UTF8Text? {
        guard try hasNext(bytes, until: UInt8(ascii: "}")) else { return nil }
        let start = position
        guard peek(bytes) == Self.quote else { throw unexpected(bytes) }
        let name = UTF8Text(Self.text(try string(bytes), of: bytes))
        guard levels[levels.count - 1].names.insert(name).inserted else {
            throw JSONFault(.repeated, "a name that occurs twice", at: start)
        }
        nameCount += 1
        guard nameCount <= maximumNames else { throw JSONFault(.tooMany, "more than \(maximumNames) names", at: start) }
        guard peek(bytes) == UInt8(ascii: ":") else { throw unexpected(bytes) }
        position += 1
        return name
    }

    /// Returns whether the array has another element, which follows.
    package mutating func element(_ bytes: Span<UInt8>) throws(JSONFault) -> Bool {
        try hasNext(bytes, until: UInt8(ascii: "]"))
    }

    /// Reads a value with all its parts.
    package mutating func skip(_ bytes: Span<UInt8>) throws(JSONFault) {
        switch try value(bytes) {
        case .object: while try member(bytes) != nil { try skip(bytes) }
        case .array: while try element(bytes) { try skip(bytes) }
        case .string, .number, .boolean, .null: break
        }
    }

    /// Checks that only white space follows.
    package mutating func finish(_ bytes: Span<UInt8>) throws(JSONFault) {
        guard peek(bytes) == nil else { throw unexpected(bytes) }
    }

    // MARK: Strings

    /// Returns the text of a string that a reader has found in the bytes.
    package static func text(_ string: Range<Int>, of bytes: Span<UInt8>) -> String {
        let text = [UInt8](capacity: string.count) { output in append(string, of: bytes, to: &output) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text of a string that a reader has found in the bytes; it is never longer than the string.
    package static func append(_ string: Range<Int>, of bytes: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        // The reader has checked the string, so there is no fault.
        _ = try? decode(string, of: bytes, acceptsNUL: true) { output.append($0) }
    }

    private mutating func string(_ bytes: Span<UInt8>) throws(JSONFault) -> Range<Int> {
        var end = position + 1
        while end < bytes.count, bytes[end] != Self.quote { end += bytes[end] == Self.backslash ? 2 : 1 }
        guard end < bytes.count else { throw incomplete }
        let string = position + 1..<end
        try Self.decode(string, of: bytes, acceptsNUL: acceptsNUL) { _ in }
        // Escape sequences are ASCII and stand for whole characters, so the text is UTF-8 if and only if this is.
        guard bytes.extracting(string).isUTF8 else {
            throw JSONFault(.notUTF8, "invalid UTF-8", at: string.lowerBound)
        }
        position = end + 1
        return string
    }

    private static func decode(
        _ string: Range<Int>,
        of bytes: Span<UInt8>,
        acceptsNUL: Bool,
        emit: (UInt8) -> Void
    ) throws(JSONFault) {
        var index = string.lowerBound
        while index < string.upperBound {
            let (start, byte) = (index, bytes[index])
            index += 1
            guard byte >= 0x20 else { throw JSONFault(.controlCharacter, "a control character in a string", at: start) }
            guard byte == backslash else {
                emit(byte)
                continue
            }
            index += 1
            switch bytes[start + 1] {
            case quote, backslash, UInt8(ascii: "/"): emit(bytes[start + 1])
            case UInt8(ascii: "b"): emit(0x08)
            case UInt8(ascii: "f"): emit(0x0C)
            case UInt8(ascii: "n"): emit(0x0A)
            case UInt8(ascii: "r"): emit(0x0D)
            case UInt8(ascii: "t"): emit(0x09)
            case UInt8(ascii: "u"):
                let scalar = try scalar(bytes.extracting(..<string.upperBound), &index)
                guard acceptsNUL || scalar != "\0" else { throw JSONFault(.nul, "a NUL character", at: start) }
                for byte in UTF8.encode(scalar) ?? .init() { emit(byte) }
            case _: throw JSONFault(.escape, "an unknown escape sequence", at: start)
            }
        }
    }

    /// Decodes a `\u` sequence after its first two characters, or two sequences that form a surrogate pair.
    private static func scalar(_ bytes: Span<UInt8>, _ index: inout Int) throws(JSONFault) -> Unicode.Scalar {
        let start = index - 2
        func unit() throws(JSONFault) -> UInt32 {
            var unit: UInt32 = 0
            for place in index..<index + 4 {
                guard let digit = place < bytes.count ? Hexadecimal.value(of: bytes[place]) : nil else {
                    throw JSONFault(.escape, "an invalid \\u sequence", at: start)
                }
                unit = unit << 4 | UInt32(digit)
            }
            index += 4
            return unit
        }
        let first = try unit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        if first < 0xDC00, index + 1 < bytes.count, bytes[index] == backslash, bytes[index + 1] == UInt8(ascii: "u") {
            index += 2
            let second = try unit()
            if (0xDC00..<0xE000).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            {
                return scalar
            }
        }
        throw JSONFault(.loneSurrogate, "a lone surrogate", at: start)
    }

    // MARK: Numbers and tokens

    /// Reads a number (RFC 8259 section 6).
    private mutating func number(_ bytes: Span<UInt8>) throws(JSONFault) -> Range<Int> {
        let first = position
        accept("-", bytes)
        let integer = position
        try digits(bytes, from: first)
        guard bytes[integer] != UInt8(ascii: "0") || position == integer + 1 else {
            throw Self.number(at: first)
        }
        if accept(".", bytes) { try digits(bytes, from: first) }
        if accept("eE", bytes) {
            accept("+-", bytes)
            try digits(bytes, from: first)
        }
        return first..<position
    }

    private mutating func digits(_ bytes: Span<UInt8>, from first: Int) throws(JSONFault) {
        guard position < bytes.count else { throw incomplete }
        guard ASCII.isDigit(bytes[position]) else { throw Self.number(at: first) }
        while position < bytes.count, ASCII.isDigit(bytes[position]) { position += 1 }
    }

    @discardableResult
    private mutating func accept(_ characters: String, _ bytes: Span<UInt8>) -> Bool {
        guard position < bytes.count, characters.utf8.contains(bytes[position]) else { return false }
        position += 1
        return true
    }

    private mutating func literal(_ text: String, _ bytes: Span<UInt8>) throws(JSONFault) {
        for byte in text.utf8 {
            guard position < bytes.count, bytes[position] == byte else {
                throw unexpected(bytes, "a value is expected here")
            }
            position += 1
        }
    }

    private mutating func open() throws(JSONFault) {
        guard levels.count < Self.maximumDepth else {
            throw JSONFault(.tooMany, "more than \(Self.maximumDepth) levels", at: position)
        }
        levels.append(([], false))
        position += 1
    }

    /// Reads the comma before a member or an element, or the end.
    private mutating func hasNext(_ bytes: Span<UInt8>, until end: UInt8) throws(JSONFault) -> Bool {
        let next = peek(bytes)
        guard next != end else {
            levels.removeLast()
            position += 1
            return false
        }
        if levels[levels.count - 1].isBegun {
            guard next == UInt8(ascii: ",") else { throw unexpected(bytes) }
            position += 1
            _ = peek(bytes)
        }
        levels[levels.count - 1].isBegun = true
        return true
    }

    /// Skips white space and returns the next byte; nil at the end.
    private mutating func peek(_ bytes: Span<UInt8>) -> UInt8? {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            case let byte: return byte
            }
        }
        return nil
    }

    private var incomplete: JSONFault { JSONFault(.incomplete, "the text is not complete", at: position) }

    private static func number(at offset: Int) -> JSONFault { JSONFault(.number, "an invalid number", at: offset) }

    private func unexpected(
        _ bytes: Span<UInt8>,
        _ cause: String = "a character that is not expected here"
    ) -> JSONFault {
        position < bytes.count ? JSONFault(.syntax, cause, at: position) : incomplete
    }
}

/// A text is not JSON, or exceeds a limit.
package struct JSONFault: Error, Hashable, CustomStringConvertible {
    package enum Code: Sendable {
        /// The text ends too early, so that more text could make it valid.
        case incomplete
        case syntax, number, controlCharacter, escape, loneSurrogate, nul, notUTF8, repeated, tooMany
        /// An object or an array where the caller takes none.
        case nested
    }

    package let code: Code
    private let cause: String
    /// The number of bytes before the part that is rejected.
    package let offset: Int

    /// Creates a fault; the cause contains no text of the body.
    package init(_ code: Code, _ cause: String, at offset: Int) {
        (self.code, self.cause, self.offset) = (code, cause, offset)
    }

    package var description: String { "byte \(offset): \(cause)" }
}

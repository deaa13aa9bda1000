// SPDX-License-Identifier: Apache-2.0

/// Text from outside the program, compared and hashed by its bytes.
///
/// `String` compares and hashes by canonical equivalence. For text from a client this is unsafe: texts with different
/// bytes can be the same key, and comparing a run of combining marks takes time proportional to the square of its
/// length. Two `UTF8Text` values are equal if their bytes are equal. Comparing and hashing take time proportional to
/// the length.
///
/// A short text needs no allocation. It may be used from any thread.
public struct UTF8Text: Sendable, Hashable {
    /// The text as a `String`, for display, logs, responses or storage.
    ///
    /// It must not be compared, searched, split or used as a key; `Scripts/unchecked-text.py` checks that.
    public let string: String

    /// Wraps a text.
    public init(_ string: String) { self.string = string }

    /// Decodes bytes; bytes that are not valid UTF-8 are replaced by U+FFFD.
    public init(repairing bytes: Span<UInt8>) {
        string = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Decodes bytes; nil if they are not UTF-8.
    public init?(validating bytes: Span<UInt8>) {
        let string = unsafe bytes.withUnsafeBufferPointer { unsafe String(validating: $0, as: UTF8.self) }
        guard let string else { return nil }
        self.string = string
    }

    /// The number of bytes.
    public var count: Int { string.utf8.count }

    /// True if there are no bytes.
    public var isEmpty: Bool { string.utf8.isEmpty }

    /// Returns whether the bytes of two texts are the same.
    public static func == (left: UTF8Text, right: UTF8Text) -> Bool { left.string.hasBytes(of: right.string) }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { string.hashBytes(into: &hasher) }
}

extension UTF8Text: ExpressibleByStringLiteral {
    /// Creates a text from a literal.
    public init(stringLiteral value: String) { string = value }
}

extension String {
    /// Returns whether the bytes of two texts are the same, in time proportional to their length.
    ///
    /// The operator `==` of `String` compares by canonical equivalence instead.
    public func hasBytes(of other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let (bytes, others) = (utf8Span.span, other.utf8Span.span)
        for index in bytes.indices where bytes[index] != others[index] { return false }
        return true
    }

    /// Hashes the bytes and their number, in time proportional to the number.
    public func hashBytes(into hasher: inout Hasher) {
        let bytes = utf8Span.span
        hasher.combine(bytes.count)
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}

extension [String] {
    /// The texts, each once: without those whose bytes occur before.
    package var uniqued: [String] {
        guard count > 1 else { return self }
        var seen: Set<UTF8Text> = []
        return filter { seen.insert(UTF8Text($0)).inserted }
    }
}

extension Span<UInt8> {
    /// True if the bytes are UTF-8; a check without a copy, also for secrets.
    package var isUTF8: Bool { (try? UTF8Span(validating: self)) != nil }

    /// True if a byte is 0, at which C ends a text; a check without a copy, also for secrets.
    package var containsNUL: Bool { indices.contains { self[$0] == 0 } }
}

extension Unicode.Scalar {
    /// True for a control character (C0, DEL, C1), and for the line and the paragraph separator.
    package var isControl: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
        default: false
        }
    }
}

extension String {
    /// True if a character is one of `Unicode.Scalar.isControl`, so that it cannot be a part of a name.
    package var containsControlCharacter: Bool { unicodeScalars.contains(where: \.isControl) }
}

/// Text from outside on one line of a log or a terminal.
package enum LineText {
    /// Returns a text with a blank in place of each control character, so that it can neither begin a line of its own
    /// nor control a terminal.
    package static func line(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return text }
        var line = ""
        for scalar in text.unicodeScalars { line.unicodeScalars.append(isControl(scalar) ? " " : scalar) }
        return line
    }

    /// Returns whether a character ends a line, controls a terminal or changes the direction of text.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // The marks and controls of directions.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: scalar.isControl
        }
    }
}

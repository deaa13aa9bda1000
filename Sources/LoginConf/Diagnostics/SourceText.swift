// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A configuration text with the name it is shown by: what every parser here reads and every diagnostic points into.
///
/// The name is for display only and is never opened. The bytes are kept as they are; whether they are UTF-8 is checked
/// by the parser.
public struct SourceText: Sendable {
    /// The most bytes a parser reads, 64 MiB; a larger text is refused with a diagnostic.
    public static let maximumSize = 64 << 20

    /// How diagnostics call this text, usually a path as the administrator wrote it.
    public let name: String
    /// The text, meant to be UTF-8.
    public let bytes: [UInt8]

    /// A text of the given bytes.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// A text of the given string.
    public init(name: String, _ text: String) {
        self.init(name: name, bytes: Array(text.utf8))
    }

    /// The line and column of a byte offset; an offset past the end is taken as the end.
    ///
    /// Nothing is kept for this between calls: a text without errors never pays for a line table.
    public func location(of offset: UInt32) -> SourceLocation {
        let place = line(around: Int(offset))
        let column = bytes[place.start..<place.offset].count { !$0.isContinuation }
        return SourceLocation(line: place.number, column: column + 1)
    }

    /// The characters of a range, with malformed bytes replaced; ranges outside of the text give what lies inside.
    public func string(in range: SourceRange) -> String {
        let end = min(Int(range.end), bytes.count)
        return String(decoding: bytes[min(Int(range.start), end)..<end], as: UTF8.self)
    }
}

/// A half-open range of byte offsets in a ``SourceText``.
public struct SourceRange: Sendable, Hashable {
    /// The offset of the first byte.
    public let start: UInt32
    /// The offset after the last byte; equal to `start` for a place between two bytes.
    public let end: UInt32

    /// A range of byte offsets; an end before the start is taken as the start.
    public init(_ start: UInt32, _ end: UInt32) {
        self.start = start
        self.end = max(start, end)
    }

    /// The range of a value that was not read from a text.
    public static let none = SourceRange(0, 0)
}

/// A place as people count it.
///
/// Lines end at LF, CRLF or CR, also inside comments and strings (the JDK's own messages skip those). Columns count
/// Unicode scalars of the line. Both start at 1.
public struct SourceLocation: Sendable, Hashable {
    /// The line, from 1.
    public let line: Int
    /// The column, from 1.
    public let column: Int

    /// A place by line and column, both from 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

extension SourceText {
    /// The most bytes of a line that are looked at after a place.
    private static let reach = 1024

    /// One line of a text: its number, its byte offsets without the line's end (of a very long line only a part), and
    /// the offset that was asked for.
    struct Line {
        let number: Int
        let start: Int
        let end: Int
        let offset: Int
    }

    func line(around offset: Int) -> Line {
        let offset = min(max(0, offset), bytes.count)
        let span = bytes.span
        var number = 1
        var start = 0
        var index = 0
        while index < offset {
            let byte = span[index]
            index += 1
            // A CR that a LF follows is half of one line end.
            let isCRLF = byte == .carriageReturn && index < span.count && span[index] == .lineFeed
            guard byte == .lineFeed || byte == .carriageReturn && !isCRLF else { continue }
            number += 1
            start = index
        }
        var end = offset
        let limit = min(span.count, offset + Self.reach)
        while end < limit, span[end] != .lineFeed, span[end] != .carriageReturn { end += 1 }
        return Line(number: number, start: start, end: end, offset: offset)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A configuration text with a name for diagnostics.
///
/// The name is only shown; no file is opened. The bytes are kept unchanged; the parser checks whether they are UTF-8.
public struct SourceText: Sendable {
    /// The largest text that a parser reads, 64 MiB; a larger one is rejected with a diagnostic.
    public static let maximumSize = 64 << 20

    /// The name in diagnostics, usually a path as the administrator wrote it.
    public let name: String
    /// The bytes, expected to be UTF-8.
    public let bytes: [UInt8]

    /// Creates a text from bytes.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// Creates a text from a string.
    public init(name: String, _ text: String) {
        self.init(name: name, bytes: Array(text.utf8))
    }

    /// Returns the line and column of a byte offset; an offset past the end is treated as the end.
    ///
    /// Each call counts the lines again, so that a text without errors needs no table of lines.
    public func location(of offset: UInt32) -> SourceLocation {
        let place = line(around: Int(offset))
        let column = bytes[place.start..<place.offset].count { !$0.isContinuation }
        return SourceLocation(line: place.number, column: column + 1)
    }

    /// Returns the characters of a range, with malformed bytes replaced; the part of the range outside of the text is
    /// ignored.
    public func string(in range: SourceRange) -> String {
        let end = min(Int(range.end), bytes.count)
        return String(decoding: bytes[min(Int(range.start), end)..<end], as: UTF8.self)
    }
}

extension SourceText {
    /// The number of bytes of a line that are read after a place.
    private static let reach = 1024

    /// A line of a text: its number, its byte offsets without the line end (only a part of a very long line), and the
    /// given offset.
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
            // CR and LF together are one line end.
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

// SPDX-License-Identifier: Apache-2.0

/// A configuration text with a name for diagnostics.
///
/// The name is only shown; no file is opened. The bytes are not checked here: the parser rejects bytes that are not
/// UTF-8.
public struct SourceText: Sendable {
    /// The maximum size of a text, 64 MiB; the parser rejects a larger text with an error.
    public static let maximumSize = 64 << 20

    /// The name that diagnostics show, usually the path that the administrator wrote.
    public let name: String
    /// The bytes, expected to be UTF-8.
    public let bytes: [UInt8]
    /// The names that messages about this text may quote.
    public let names: KnownNames
    /// True if there is no file that a reader of a message could open, because a program has made the text.
    let isOfProgram: Bool
    private let checkpoints: [Checkpoint]
    /// The values of references, which messages show as they are written; the copies of a text share them.
    let expandedValues = ExpandedValues()

    /// Creates a text from bytes.
    public init(name: String, bytes: [UInt8], names: KnownNames = .none) {
        self.init(name: name, bytes: bytes, names: names, isOfProgram: false)
    }

    /// Creates a text that a program has made, so that its messages in a log show the statement, and no line of a file.
    package init(ofProgram name: String, _ text: String, names: KnownNames) {
        self.init(name: name, bytes: Array(text.utf8), names: names, isOfProgram: true)
    }

    private init(name: String, bytes: [UInt8], names: KnownNames, isOfProgram: Bool) {
        self.name = name
        self.isOfProgram = isOfProgram
        self.bytes = bytes
        self.names = names
        // A larger text has one error, at its start.
        checkpoints = bytes.count <= Self.maximumSize ? Checkpoint.all(in: bytes.span) : [Checkpoint()]
    }

    /// Creates a text from a string.
    public init(name: String, _ text: String, names: KnownNames = .none) {
        self.init(name: name, bytes: Array(text.utf8), names: names)
    }

    /// Returns whether this is a copy of another text, without comparing the bytes.
    func isCopy(of other: SourceText) -> Bool { expandedValues === other.expandedValues }

    /// Returns the line and column of a byte offset; an offset past the end is treated as the end.
    ///
    /// It takes constant time.
    public func location(of offset: Int) -> SourceLocation {
        let place = line(around: offset)
        return SourceLocation(line: place.number, column: place.column)
    }

    /// Makes later diagnostics about this text show a value as its reference, such as `${env:NAME}`; without effect if
    /// the value has no reference.
    public func hide(_ value: String, writtenAs written: String, at range: SourceRange) {
        guard written.contains("${env:") || written.contains("${file:") else { return }
        expandedValues.add(value, writtenAs: written, line: location(of: range.start).line)
    }

    /// Returns a diagnostic about another text without the values that are hidden in diagnostics about this one.
    public func hidingValues(in diagnostic: Diagnostic) -> Diagnostic {
        expandedValues.hiding(in: diagnostic, line: nil)
    }

    /// Returns the characters of a range, with malformed bytes replaced.
    ///
    /// The part of the range that is outside of the text is ignored.
    public func string(in range: SourceRange) -> String {
        let end = min(range.end, bytes.count)
        return String(decoding: bytes[min(range.start, end)..<end], as: UTF8.self)
    }
}

extension SourceText {
    /// The line that contains an offset: its number, its byte offsets without the line end, and the offset with its
    /// column.
    ///
    /// A long line is cut 1,024 bytes after the offset.
    struct Line {
        let number: Int
        let start: Int
        let end: Int
        let offset: Int
        /// The column of the offset, from 1.
        let column: Int
    }

    func line(around offset: Int) -> Line {
        let offset = min(max(0, offset), bytes.count)
        let known = min(offset / Checkpoint.step, checkpoints.count - 1)
        let line = checkpoints[known].advanced(from: known * Checkpoint.step, to: offset, in: bytes.span)
        let end = bytes[offset...].prefix(1024).firstIndex(where: \.isLineEnd) ?? min(bytes.count, offset + 1024)
        return Line(number: line.number, start: line.start, end: end, offset: offset, column: line.characters + 1)
    }

    /// A place whose line is known, one for every 512 bytes, so that a look-up does not read the text from its start.
    private struct Checkpoint {
        static let step = 512

        /// The number of the line, from 1.
        var number = 1
        /// The offset of the first byte of the line.
        var start = 0
        /// The number of characters between the start of the line and the place.
        var characters = 0

        static func all(in span: Span<UInt8>) -> [Checkpoint] {
            var all = [Checkpoint()]
            for offset in stride(from: step, through: span.count, by: step) {
                all.append(all[all.count - 1].advanced(from: offset - step, to: offset, in: span))
            }
            return all
        }

        func advanced(from offset: Int, to end: Int, in span: Span<UInt8>) -> Checkpoint {
            var place = self
            for index in offset..<end {
                let byte = span[index]
                // CRLF is one line end.
                let isBeforeLineFeed = index + 1 < span.count && span[index + 1] == .lineFeed
                if byte == .lineFeed || byte == .carriageReturn && !isBeforeLineFeed {
                    place = Checkpoint(number: place.number + 1, start: index + 1)
                } else if !byte.isContinuation {
                    place.characters += 1
                }
            }
            return place
        }
    }
}

/// A half-open range of byte offsets in a ``SourceText``.
public struct SourceRange: Sendable, Hashable {
    /// The offset of the first byte.
    public let start: Int
    /// The offset after the last byte; equal to `start` for a place between two bytes.
    public let end: Int

    /// Creates a range; if the end is before the start, the range is empty.
    public init(_ start: Int, _ end: Int) {
        self.start = start
        self.end = max(start, end)
    }

    /// The empty range of a value that was not read from a text.
    public static let none = SourceRange(0, 0)
}

/// A place in a text as line and column.
///
/// A line ends at LF, CRLF or CR, also within comments and strings, where the JDK does not count line ends. A column is
/// one Unicode scalar. The first line and the first column are 1.
public struct SourceLocation: Sendable, Hashable {
    /// The line; the first line is 1.
    public let line: Int
    /// The column; the first column is 1.
    public let column: Int

    /// Creates a place from line and column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

extension SourceText {
    /// Returns an error if the text is too large or is not UTF-8; nil if it can be parsed.
    ///
    /// The JDK accepts malformed bytes: it replaces them by U+FFFD, which is valid in words.
    func validationError() -> Diagnostic? {
        guard bytes.count <= Self.maximumSize else {
            return error(at: .none, "the text has more than \(Self.maximumSize >> 20) MiB")
        }
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
            return nil
        } catch {
            let range = SourceRange(error.byteOffsets.lowerBound, error.byteOffsets.upperBound)
            return self.error(at: range, "the text is not UTF-8", hint: "save the file as UTF-8")
        }
    }

    func hasByteOrderMark(at offset: Int) -> Bool {
        bytes[min(offset, bytes.count)...].starts(with: [0xEF, 0xBB, 0xBF])
    }
}

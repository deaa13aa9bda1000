// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

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
    /// The copies of a text share it.
    private let lines = LineIndex()
    /// The values of references, which messages show as they are written; the copies of a text share them.
    let expandedValues = ExpandedValues()

    /// Creates a text from bytes.
    ///
    /// - Parameters:
    ///   - name: The name for diagnostics.
    ///   - bytes: The bytes.
    ///   - names: The names that messages may quote.
    public init(name: String, bytes: [UInt8], names: KnownNames = .none) {
        self.name = name
        self.bytes = bytes
        self.names = names
    }

    /// Creates a text from a string.
    public init(name: String, _ text: String, names: KnownNames = .none) {
        self.init(name: name, bytes: Array(text.utf8), names: names)
    }

    /// Returns the line and column of a byte offset; an offset past the end is treated as the end.
    ///
    /// The first call reads the whole text, and later calls take constant time.
    public func location(of offset: UInt32) -> SourceLocation {
        let place = line(around: Int(offset))
        return SourceLocation(line: place.number, column: place.column)
    }

    /// Hides a value in the later diagnostics about this text, if variables or files are the source of it.
    ///
    /// - Parameters:
    ///   - value: The value with its references `${...}` replaced.
    ///   - written: The value as it is written in the configuration; later diagnostics show it instead.
    ///   - range: The place of the value.
    public func hide(_ value: String, writtenAs written: String, at range: SourceRange) {
        guard written.contains("${env:") || written.contains("${file:") else { return }
        expandedValues.add(value, writtenAs: written, line: Int(location(of: range.start).line))
    }

    /// Returns a diagnostic about another text without the values that are hidden in diagnostics about this one.
    public func hidingValues(in diagnostic: Diagnostic) -> Diagnostic {
        expandedValues.hiding(in: diagnostic, line: nil)
    }

    /// Returns the characters of a range, with malformed bytes replaced.
    ///
    /// The part of the range that is outside of the text is ignored.
    public func string(in range: SourceRange) -> String {
        let end = min(Int(range.end), bytes.count)
        return String(decoding: bytes[min(Int(range.start), end)..<end], as: UTF8.self)
    }
}

extension SourceText {
    /// The line that contains an offset: its number, its byte offsets without the line end, and the offset with its column.
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
        let line = lines.line(of: offset, in: bytes)
        let span = bytes.span
        var end = offset
        let limit = min(span.count, offset + 1024)
        while end < limit, span[end] != .lineFeed, span[end] != .carriageReturn { end += 1 }
        return Line(
            number: Int(line.number),
            start: Int(line.start),
            end: end,
            offset: offset,
            column: Int(line.characters) + 1
        )
    }
}

/// A half-open range of byte offsets in a ``SourceText``.
public struct SourceRange: Sendable, Hashable {
    /// The offset of the first byte.
    public let start: UInt32
    /// The offset after the last byte; equal to `start` for a place between two bytes.
    public let end: UInt32

    /// Creates a range; if the end is before the start, the range is empty.
    public init(_ start: UInt32, _ end: UInt32) {
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
            let range = SourceRange(UInt32(error.byteOffsets.lowerBound), UInt32(error.byteOffsets.upperBound))
            return self.error(at: range, "the text is not UTF-8", hint: "save the file as UTF-8")
        }
    }

    func hasByteOrderMark(at offset: Int) -> Bool {
        bytes[min(offset, bytes.count)...].starts(with: [0xEF, 0xBB, 0xBF])
    }
}

/// The places of a text at which lines and columns are known, so that a look-up does not read the text from its start.
///
/// The index is made at the first look-up, because only texts with errors or rules need it. It takes 12 bytes for every
/// 512 bytes of the text.
final class LineIndex: Sendable {
    private static let step = 512

    /// The line of an offset.
    struct Checkpoint {
        /// The number of the line, from 1.
        var number: UInt32 = 1
        /// The offset of the first byte of the line.
        var start: UInt32 = 0
        /// The number of characters between the start of the line and the offset.
        var characters: UInt32 = 0
    }

    private let checkpoints = Mutex<[Checkpoint]?>(nil)

    /// Returns the line of a byte offset, at most the number of bytes, in a text that is always the same and has at most
    /// 2^32 - 1 bytes.
    ///
    /// It takes time in proportion to the text at the first call, and constant time afterwards.
    func line(of offset: Int, in bytes: [UInt8]) -> Checkpoint {
        let first = checkpoints.withLock { known in
            let all = known ?? Self.checkpoints(of: bytes)
            known = all
            return all[offset / Self.step]
        }
        return Self.advanced(first, from: offset / Self.step * Self.step, to: offset, in: bytes.span)
    }

    private static func checkpoints(of bytes: [UInt8]) -> [Checkpoint] {
        var all: [Checkpoint] = [Checkpoint()]
        all.reserveCapacity(bytes.count / step + 1)
        let span = bytes.span
        var offset = 0
        var checkpoint = Checkpoint()
        while offset + step <= span.count {
            checkpoint = advanced(checkpoint, from: offset, to: offset + step, in: span)
            all.append(checkpoint)
            offset += step
        }
        return all
    }

    private static func advanced(
        _ checkpoint: Checkpoint,
        from offset: Int,
        to end: Int,
        in span: Span<UInt8>
    ) -> Checkpoint {
        var checkpoint = checkpoint
        for index in offset..<end {
            let byte = span[index]
            // CRLF is one line end.
            let isBeforeLineFeed = index + 1 < span.count && span[index + 1] == .lineFeed
            if byte == .lineFeed || byte == .carriageReturn && !isBeforeLineFeed {
                checkpoint = Checkpoint(number: checkpoint.number + 1, start: UInt32(index + 1))
            } else if !byte.isContinuation {
                checkpoint.characters += 1
            }
        }
        return checkpoint
    }
}

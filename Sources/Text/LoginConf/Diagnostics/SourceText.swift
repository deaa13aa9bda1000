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
    /// The copies of a text share it.
    private let lines = LineIndex()
    /// The parts that messages do not show; the copies of a text share them.
    let confidential: ConfidentialText
    /// The values of references, which messages show as they are written; the copies of a text share them.
    let hiddenValues = HiddenValues()

    /// Creates a text from bytes.
    ///
    /// - Parameters:
    ///   - name: The name for diagnostics.
    ///   - bytes: The bytes.
    ///   - secretNames: The names of settings whose values messages do not show, in addition to names such as `password`.
    public init(name: String, bytes: [UInt8], secretNames: Set<String> = []) {
        self.name = name
        self.bytes = bytes
        // The only error about a larger text is shown at its first line.
        let end = bytes.count > Self.maximumSize ? 1 << 16 : bytes.count
        confidential = ConfidentialText(bytes, end: end, names: secretNames)
    }

    /// Creates a text from a string.
    public init(name: String, _ text: String) {
        self.init(name: name, bytes: Array(text.utf8))
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
        hiddenValues.add(value, writtenAs: written, line: Int(location(of: range.start).line))
    }

    /// Returns a diagnostic about another text without the values that are hidden in diagnostics about this one.
    public func hidingValues(in diagnostic: Diagnostic) -> Diagnostic { hiddenValues.hiding(in: diagnostic, line: nil) }

    /// Returns the characters of a range, with malformed bytes replaced.
    ///
    /// The part of the range that is outside of the text is ignored.
    public func string(in range: SourceRange) -> String {
        let end = min(Int(range.end), bytes.count)
        return String(decoding: bytes[min(Int(range.start), end)..<end], as: UTF8.self)
    }
}

extension SourceText {
    /// The maximum number of bytes of a line that are read after an offset.
    private static let maximumBytesAfterOffset = 1024

    /// The line that contains an offset: its number, its byte offsets without the line end, and the offset with its column.
    ///
    /// The end of a very long line is cut.
    struct Line {
        let number: Int
        let start: Int
        let end: Int
        let offset: Int
        /// The column of the offset, from 1.
        let column: Int
    }

    /// The parts that messages do not show.
    var confidentialParts: ConfidentialText.Parts { confidential.parts }

    /// Returns whether a place is in a value that may be a secret.
    public func isConfidential(_ range: SourceRange) -> Bool {
        !confidentialParts.values(from: Int(range.start), to: Int(range.end)).isEmpty
    }

    /// Returns the line that contains an offset.
    func line(around offset: Int) -> Line {
        let offset = min(max(0, offset), bytes.count)
        let line = lines.line(of: offset, in: bytes)
        let span = bytes.span
        var end = offset
        let limit = min(span.count, offset + Self.maximumBytesAfterOffset)
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

// SPDX-License-Identifier: Apache-2.0

internal import Files

struct TextLine: Sendable {
    /// From 1.
    let number: Int
    /// Without the line end (LF or CRLF).
    let content: Range<Int>
    /// With the line end.
    let whole: Range<Int>

    /// Returns the lines of a file without its byte order mark, or of a part of it after `earlier` lines.
    static func lines(of bytes: [UInt8], after earlier: Int = 0) -> [TextLine] {
        var lines: [TextLine] = []
        var start = earlier == 0 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let span = bytes.span
        for index in start..<max(start, span.count) where span[index] == 0x0A {
            let hasReturn = index > start && span[index - 1] == 0x0D
            let content = start..<(hasReturn ? index - 1 : index)
            lines.append(TextLine(number: earlier + lines.count + 1, content: content, whole: start..<index + 1))
            start = index + 1
        }
        if start < bytes.count {
            let range = start..<bytes.count
            lines.append(TextLine(number: earlier + lines.count + 1, content: range, whole: range))
        }
        return lines
    }

    /// Returns the line end of the first line; LF for a file without one.
    static func end(in bytes: [UInt8]) -> [UInt8] {
        guard let index = bytes.firstIndex(of: 0x0A), index > 0, bytes[index - 1] == 0x0D else { return [0x0A] }
        return [0x0D, 0x0A]
    }

    static func ignored(_ reason: String) -> String { "the line is ignored: \(reason)" }

    /// Checks that a file, or a part of it after `earlier` lines, is text: UTF-8 without a NUL.
    static func checkText(_ bytes: [UInt8], after earlier: Int = 0, path: String) throws(FileFault) {
        guard earlier > 0 || !bytes.starts(with: [0xFF, 0xFE]) && !bytes.starts(with: [0xFE, 0xFF]) else {
            throw FileFault("\(path): it is UTF-16; it must be UTF-8")
        }
        guard let index = bytes.firstIndex(of: 0) else { return }
        let line = earlier + bytes[..<index].count { $0 == 0x0A } + 1
        throw FileFault("\(path):\(line): it is not a text file: it contains a NUL byte")
    }
}

/// The error for a line that is ignored.
struct BadLine: Error, CustomStringConvertible {
    let line: Int
    let description: String

    init(_ line: Int, _ reason: String) { (self.line, description) = (line, reason) }

    func warning(_ path: String) -> String { "\(path):\(line): \(TextLine.ignored(description))" }
}

extension [UInt8] {
    /// Returns nil if the text is not UTF-8.
    func text(_ range: Range<Int>) -> String? { String(validating: self[range], as: UTF8.self) }

    /// Returns the range without leading and trailing blanks, as Apache reads lines.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, Self.isBlank(self[start]) { start += 1 }
        while start < end, Self.isBlank(self[end - 1]) { end -= 1 }
        return start..<end
    }

    func index(of byte: UInt8, in range: Range<Int>) -> Int? {
        for index in range where self[index] == byte { return index }
        return nil
    }

    /// Returns the parts between separators, including empty ones.
    func parts(_ range: Range<Int>, by separator: UInt8) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = range.lowerBound
        for index in range where self[index] == separator {
            parts.append(start..<index)
            start = index + 1
        }
        parts.append(start..<range.upperBound)
        return parts
    }

    /// Returns whether a range contains a control character of ASCII.
    func containsControlByte(in range: Range<Int>, allowingTab: Bool = false) -> Bool {
        for index in range {
            let byte = self[index]
            if byte < 0x20 && !(allowingTab && byte == 0x09) || byte == 0x7F { return true }
        }
        return false
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

extension String {
    var hasLeadingOrTrailingBlank: Bool {
        if let first = utf8.first, let last = utf8.last, (0x21...0x7E).contains(first), (0x21...0x7E).contains(last) {
            return false
        }
        guard let first = unicodeScalars.first, let last = unicodeScalars.last else { return false }
        return first.properties.isWhitespace || last.properties.isWhitespace
    }
}

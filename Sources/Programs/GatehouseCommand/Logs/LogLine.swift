// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A line of a log.
enum LogLine: Sendable, Hashable {
    case entry(LogEntry)
    /// The server reports that it has dropped lines, because its output was not read.
    case lost(Int)
    /// The line is not one of Gatehouse, or it is cut off.
    case unreadable

    /// The maximum number of bytes before the time of a line, such as those that journald or a container adds.
    private static let maximumPrefix = 200

    /// Reads a line without its end; text of clients follows the time and the source, so it cannot look like a line.
    init(_ bytes: [UInt8]) {
        let starts = 0..<max(0, min(Self.maximumPrefix, bytes.count - LogTime.length) + 1)
        for start in starts where ASCII.isDigit(bytes[start]) {
            guard let time = LogTime(bytes, at: start) else { continue }
            // A later time in the line may be text of a client.
            let cursor = ByteCursor(bytes, from: start + LogTime.length)
            self = LogEntry(cursor, at: time).map { .entry($0) } ?? .unreadable
            return
        }
        self = Self.lost(bytes).map { .lost($0) } ?? .unreadable
    }

    /// Reads `gatehouse: 12 lines were lost: this stream was not read`.
    private static func lost(_ bytes: [UInt8]) -> Int? {
        guard let place = bytes.prefix(maximumPrefix).firstRange(of: "gatehouse: ".utf8) else { return nil }
        var cursor = ByteCursor(bytes, from: place.upperBound)
        guard let digits = cursor.word(), digits.count <= 9, cursor.skip("lines were lost: ") else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}

/// Splits the bytes of a log into lines, in memory that does not depend on the length of the log.
struct LineSplitter {
    /// The maximum length of a line, in bytes; Gatehouse writes shorter lines only.
    static let maximumLength = 1 << 18

    /// The beginning of a line whose end has not been read yet.
    private var rest: [UInt8] = []
    /// True if the present line is too long, and its remaining bytes are skipped.
    private var isTooLong = false

    /// Takes the next bytes of the log, and returns the lines that they end; nil for a line that is too long.
    mutating func add(_ chunk: [UInt8]) -> [[UInt8]?] {
        var lines: [[UInt8]?] = []
        var start = 0
        while let end = chunk[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let isTooLong = isTooLong || rest.count + end - start > Self.maximumLength
            lines.append(isTooLong ? nil : rest + chunk[start..<end])
            (rest, self.isTooLong) = ([], false)
            start = end + 1
        }
        isTooLong = isTooLong || rest.count + chunk.count - start > Self.maximumLength
        rest = isTooLong ? [] : rest + chunk[start...]
        return lines
    }

    /// Takes the end of a file: a last line without a line end may be incomplete.
    mutating func finish() -> [[UInt8]?] {
        defer { (rest, isTooLong) = ([], false) }
        return isTooLong ? [nil] : rest.isEmpty ? [] : [rest]
    }
}

/// A position in a line of the log.
struct ByteCursor {
    let bytes: [UInt8]
    private(set) var index: Int

    init(_ bytes: [UInt8], from index: Int = 0) { (self.bytes, self.index) = (bytes, index) }

    var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Skips a text, if it comes next, and `end` after it, which is not skipped.
    mutating func skip(_ text: String, before end: UInt8? = nil) -> Bool {
        let after = index + text.utf8.count
        guard bytes[index...].starts(with: text.utf8), end == nil || after < bytes.count && bytes[after] == end else {
            return false
        }
        index = after
        return true
    }

    /// Skips the bytes before the first that does not meet a condition, and returns them.
    mutating func skip(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let skipped = bytes[index...].prefix(while: condition)
        index = skipped.endIndex
        return skipped
    }

    /// Reads the bytes before the next blank, and skips the blank; nil if there are none.
    mutating func word() -> ArraySlice<UInt8>? {
        let word = skip { $0 != ASCII.space }
        _ = skip(" ")
        return word.isEmpty ? nil : word
    }

    /// Reads a text in quotes, as the log writes it; nil if there is none, or if it is malformed.
    ///
    /// The text has only visible ASCII characters and spaces between its quotes; all other characters are escaped.
    mutating func quoted() -> UTF8Text? {
        var cursor = self
        guard cursor.skip("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = cursor.next {
            cursor.index += 1
            switch byte {
            case UInt8(ascii: "\""):
                self = cursor
                return UTF8Text(validating: text.span)
            case UInt8(ascii: "\\"):
                guard let scalar = cursor.escaped() else { return nil }
                text += String(scalar).utf8
            case 0x20...0x7E: text.append(byte)
            default: return nil
            }
        }
        return nil
    }

    /// Reads the rest of an escape after its backslash: a quote, a backslash, or `u{...}`.
    private mutating func escaped() -> Unicode.Scalar? {
        if skip("\"") { return "\"" }
        if skip("\\") { return "\\" }
        guard skip("u{") else { return nil }
        let digits = bytes[index...].prefix(6).prefix { Hexadecimal.value(of: $0) != nil }
        index += digits.count
        guard skip("}") else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16).flatMap(Unicode.Scalar.init)
    }
}

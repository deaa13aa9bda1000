// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A line of a log.
package enum LogLine: Sendable, Hashable {
    case entry(LogEntry)
    /// The server reports that it has dropped lines, because its output was not read.
    case lost(Int)
    /// The line is not one of Gatehouse, or it is cut off.
    case unreadable

    /// The maximum number of bytes before the time of a line, such as those that journald or a container adds.
    private static let maximumPrefix = 200

    /// Reads a line without its end; text of clients follows the time and the source, so it cannot look like a line.
    package init(_ bytes: [UInt8]) {
        let last = min(Self.maximumPrefix, bytes.count - LogTime.length)
        var start = 0
        while start <= last {
            if ASCII.isDigit(bytes[start]), let time = LogTime(bytes, at: start) {
                // A later time in the line may be text of a client.
                let cursor = ByteCursor(bytes, from: start + LogTime.length)
                self = LogEntry(cursor, at: time).map { .entry($0) } ?? .unreadable
                return
            }
            start += 1
        }
        if let count = Self.lost(bytes) { self = .lost(count) } else { self = .unreadable }
    }

    /// Reads `gatehouse: 12 lines were lost: this stream was not read`.
    private static func lost(_ bytes: [UInt8]) -> Int? {
        guard let place = bytes.prefix(maximumPrefix).firstRange(of: "gatehouse: ".utf8) else { return nil }
        var cursor = ByteCursor(bytes, from: place.upperBound)
        guard let digits = cursor.word(), digits.count <= 9, let count = Int(String(decoding: digits, as: UTF8.self)),
            cursor.skip("lines were lost: ")
        else { return nil }
        return count
    }
}

/// Splits the bytes of a log into lines, in memory that does not depend on the length of the log.
package struct LineSplitter {
    /// The maximum length of a line, in bytes; Gatehouse writes shorter lines only.
    package static let maximumLength = 1 << 18

    /// The beginning of a line whose end has not been read yet.
    private var rest: [UInt8] = []
    /// True if the present line is too long, and its remaining bytes are skipped.
    private var isTooLong = false

    package init() {}

    /// Takes the next bytes of the log; `use` gets each line without its end, nil for a line that is too long.
    package mutating func add(_ chunk: [UInt8], use: ([UInt8]?) -> Void) {
        var start = 0
        while let end = chunk[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if isTooLong || rest.count + end - start > Self.maximumLength {
                use(nil)
            } else if rest.isEmpty {
                use(Array(chunk[start..<end]))
            } else {
                use(rest + chunk[start..<end])
            }
            (rest, isTooLong) = ([], false)
            start = end + 1
        }
        guard !isTooLong else { return }
        if rest.count + chunk.count - start > Self.maximumLength {
            (rest, isTooLong) = ([], true)
        } else {
            rest += chunk[start...]
        }
    }

    /// Takes the end of a file: a last line without a line end may be incomplete.
    package mutating func finish(use: ([UInt8]?) -> Void) {
        if isTooLong { use(nil) } else if !rest.isEmpty { use(rest) }
        (rest, isTooLong) = ([], false)
    }
}

/// A position in a line of the log.
struct ByteCursor {
    let bytes: [UInt8]
    private(set) var index: Int

    init(_ bytes: [UInt8], from index: Int = 0) { (self.bytes, self.index) = (bytes, index) }

    var isAtEnd: Bool { index >= bytes.count }

    var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Skips a text, if it comes next.
    mutating func skip(_ text: StaticString) -> Bool {
        guard bytes.count - index >= text.utf8CodeUnitCount else { return false }
        let isNext = text.withUTF8Buffer { wanted in
            for offset in 0..<wanted.count where bytes[index + offset] != (unsafe wanted[offset]) { return false }
            return true
        }
        if isNext { index += text.utf8CodeUnitCount }
        return isNext
    }

    /// Reads the bytes before the next blank, and skips the blank; nil if there are none.
    mutating func word() -> ArraySlice<UInt8>? {
        let start = index
        while index < bytes.count, bytes[index] != ASCII.space { index += 1 }
        guard index > start else { return nil }
        defer { if index < bytes.count { index += 1 } }
        return bytes[start..<index]
    }

    /// Reads a text in quotes, as the log writes it; nil if there is none, or if it is malformed.
    ///
    /// The text has only visible ASCII characters and spaces between its quotes; all other characters are escaped.
    mutating func quoted() -> UTF8Text? {
        guard next == UInt8(ascii: "\"") else { return nil }
        var place = index + 1
        // Most texts have no escapes.
        while place < bytes.count, Self.isPlain(bytes[place]) { place += 1 }
        if place < bytes.count, bytes[place] == UInt8(ascii: "\"") {
            defer { index = place + 1 }
            return UTF8Text(validating: bytes.span.extracting((index + 1)..<place))
        }
        var text = Array(bytes[(index + 1)..<place])
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                index = place + 1
                return UTF8Text(validating: text.span)
            case UInt8(ascii: "\\"):
                guard let (scalar, end) = Self.escape(in: bytes, at: place) else { return nil }
                text.append(contentsOf: String(scalar).utf8)
                place = end
            case let byte where Self.isPlain(byte):
                text.append(byte)
                place += 1
            default: return nil
            }
        }
        return nil
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte <= 0x7E && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Reads an escape: a backslash before a quote or a backslash, or `\u{...}`.
    private static func escape(in bytes: [UInt8], at place: Int) -> (Unicode.Scalar, end: Int)? {
        guard place + 1 < bytes.count else { return nil }
        switch bytes[place + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return (Unicode.Scalar(bytes[place + 1]), place + 2)
        case UInt8(ascii: "u"):
            guard place + 2 < bytes.count, bytes[place + 2] == UInt8(ascii: "{") else { return nil }
            var value: UInt32 = 0
            var index = place + 3
            while index < bytes.count, let digit = hexadecimal(bytes[index]), index < place + 9 {
                value = value << 4 | UInt32(digit)
                index += 1
            }
            guard index > place + 3, index < bytes.count, bytes[index] == UInt8(ascii: "}"),
                let scalar = Unicode.Scalar(value)
            else { return nil }
            return (scalar, index + 1)
        default: return nil
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

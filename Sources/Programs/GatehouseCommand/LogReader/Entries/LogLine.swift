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

    /// Reads a line.
    ///
    /// Text of clients follows the time and the source, so it cannot be taken for the beginning of a line.
    ///
    /// - Parameter bytes: The line without its line end.
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

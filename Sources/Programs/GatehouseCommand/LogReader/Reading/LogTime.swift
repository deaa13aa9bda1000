// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A time of the log, in UTC.
package struct LogTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970.
    package let milliseconds: Int

    package init(milliseconds: Int) { self.milliseconds = milliseconds }

    package static func < (left: LogTime, right: LogTime) -> Bool { left.milliseconds < right.milliseconds }

    /// The number of bytes of a time in the log, such as `2026-11-22T02:29:33.448Z`.
    static let length = 24

    /// Reads the time at a place of a line of the log.
    ///
    /// - Parameters:
    ///   - bytes: The line.
    ///   - start: The place of the first digit of the year.
    init?(_ bytes: [UInt8], at start: Int) {
        guard bytes.count - start >= Self.length else { return nil }
        func number(_ offset: Int, _ count: Int) -> Int? {
            var value = 0
            for index in (start + offset)..<(start + offset + count) {
                guard ASCII.isDigit(bytes[index]) else { return nil }
                value = value * 10 + Int(bytes[index] - UInt8(ascii: "0"))
            }
            return value
        }
        let (dash, colon) = (UInt8(ascii: "-"), ASCII.colon)
        guard bytes[start + 4] == dash, bytes[start + 7] == dash, bytes[start + 10] == UInt8(ascii: "T"),
            bytes[start + 13] == colon, bytes[start + 16] == colon, bytes[start + 19] == UInt8(ascii: "."),
            bytes[start + 23] == UInt8(ascii: "Z")
        else { return nil }
        guard let year = number(0, 4), let month = number(5, 2), let day = number(8, 2), let hour = number(11, 2),
            let minute = number(14, 2), let second = number(17, 2), let fraction = number(20, 3),
            let seconds = UTCTime.seconds(
                year: year,
                month: month,
                day: day,
                hour: hour,
                minute: minute,
                second: second
            )
        else { return nil }
        milliseconds = seconds * 1000 + fraction
    }

    /// The time as the log writes it.
    package var description: String {
        let seconds = milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
        let fraction = String(milliseconds - seconds * 1000 + 1000).dropFirst()
        return "\(UTCTime.text(seconds).dropLast()).\(fraction)Z"
    }
}

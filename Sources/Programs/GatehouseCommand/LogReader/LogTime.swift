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

    /// Reads the time whose first digit is at a place of a line of the log.
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

extension LogTime {
    /// Reads a time that a user has typed, in UTC if it has no offset.
    ///
    /// `10:00` or `10:00:30` is the last time that it was this time of the day; `90s`, `30m`, `2h` or `7d` is before now; a
    /// date and time of ISO 8601 is such as `2026-11-22`, `2026-11-22T10:00` or `2026-11-22T10:00:00+01:00`.
    package init?(_ text: String, now: LogTime) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 40 else { return nil }
        guard let time = Self.beforeNow(bytes, now: now) ?? Self.timeOfDay(bytes, now: now) ?? Self.date(bytes) else {
            return nil
        }
        self = time
    }

    /// Reads `90s`, `30m`, `2h` or `7d` after now, or a date and time of ISO 8601, which may be before now.
    package init?(after now: LogTime, _ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 40 else { return nil }
        if let length = Self.seconds(bytes) {
            self.init(milliseconds: now.milliseconds + length * 1000)
        } else {
            guard let time = Self.date(bytes) else { return nil }
            self = time
        }
    }

    private static func beforeNow(_ bytes: [UInt8], now: LogTime) -> LogTime? {
        seconds(bytes).map { LogTime(milliseconds: now.milliseconds - $0 * 1000) }
    }

    /// Reads `90s`, `30m`, `2h` or `7d`.
    private static func seconds(_ bytes: [UInt8]) -> Int? {
        let units: [UInt8: Int] = [
            UInt8(ascii: "s"): 1, UInt8(ascii: "m"): 60, UInt8(ascii: "h"): 3600, UInt8(ascii: "d"): 86_400,
        ]
        guard (2...8).contains(bytes.count), let unit = bytes.last.flatMap({ units[$0] }),
            let count = number(bytes.dropLast())
        else { return nil }
        return count * unit
    }

    private static func timeOfDay(_ bytes: [UInt8], now: LogTime) -> LogTime? {
        guard let second = secondOfDay(bytes[...]) else { return nil }
        let day = now.milliseconds - now.milliseconds % 86_400_000
        let today = day + second * 1000
        return LogTime(milliseconds: today <= now.milliseconds ? today : today - 86_400_000)
    }

    /// Reads `10:00` or `10:00:30`.
    private static func secondOfDay(_ bytes: ArraySlice<UInt8>) -> Int? {
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, parts.allSatisfy({ $0.count == 2 }), let hour = number(parts[0]),
            let minute = number(parts[1]), let second = parts.count == 3 ? number(parts[2]) : 0, hour < 24, minute < 60,
            second < 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func date(_ bytes: [UInt8]) -> LogTime? {
        let halves = bytes.split(separator: UInt8(ascii: "T"), maxSplits: 1, omittingEmptySubsequences: false)
        let days = halves[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard days.map(\.count) == [4, 2, 2], let year = number(days[0]), let month = number(days[1]),
            let day = number(days[2]),
            let midnight = UTCTime.seconds(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
        else { return nil }
        guard halves.count == 2 else { return LogTime(milliseconds: midnight * 1000) }
        var time = halves[1]
        var offset = 0
        if time.last == UInt8(ascii: "Z") {
            time = time.dropLast()
        } else if let sign = time.lastIndex(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }) {
            guard let zone = secondOfDay(time[(sign + 1)...]) else { return nil }
            offset = time[sign] == UInt8(ascii: "+") ? zone : -zone
            time = time[..<sign]
        }
        var fraction = 0
        if let dot = time.firstIndex(of: UInt8(ascii: ".")) {
            let digits = time[(dot + 1)...]
            guard (1...9).contains(digits.count), number(digits) != nil else { return nil }
            let milliseconds =
                Array(digits.prefix(3)) + Array(repeating: UInt8(ascii: "0"), count: max(0, 3 - digits.count))
            fraction = number(milliseconds[...]) ?? 0
            time = time[..<dot]
        }
        guard let second = secondOfDay(time) else { return nil }
        return LogTime(milliseconds: (midnight + second - offset) * 1000 + fraction)
    }

    /// Reads up to nine digits.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard (1...9).contains(bytes.count), bytes.allSatisfy(ASCII.isDigit) else { return nil }
        return bytes.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// Reads the parts of a time in UTC, in the format of ISO 8601, one after the other.
package struct UTCTimeReader {
    private let bytes: [UInt8]
    private var place: Int
    /// True if the last time of the day had seconds.
    package private(set) var hasSeconds = false

    package init(_ bytes: [UInt8], at place: Int = 0) { (self.bytes, self.place) = (bytes, place) }

    package var isAtEnd: Bool { place == bytes.count }

    /// Reads one character of ASCII, if it is next.
    package mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    /// Reads a number of exactly this many digits.
    package mutating func number(_ digits: Int) -> Int? {
        guard place + digits <= bytes.count else { return nil }
        var number = 0
        for index in place..<place + digits {
            guard ASCII.isDigit(bytes[index]) else { return nil }
            number = number * 10 + Int(bytes[index] - UInt8(ascii: "0"))
        }
        place += digits
        return number
    }

    /// Reads all digits that follow, and returns the milliseconds that they are as a fraction of a second; nil if there
    /// is none.
    package mutating func fraction() -> (milliseconds: Int, digits: Int)? {
        let digits = bytes[place...].prefix(while: ASCII.isDigit)
        guard !digits.isEmpty else { return nil }
        place += digits.count
        let milliseconds = (digits.prefix(3) + [UInt8](repeating: UInt8(ascii: "0"), count: max(0, 3 - digits.count)))
        return (milliseconds.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }, digits.count)
    }

    /// Reads a day such as `2026-11-21`, and returns its beginning in seconds since 1970.
    package mutating func day() -> Int? {
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
            (1...12).contains(month), (1...Self.length(ofMonth: month, year: year)).contains(day)
        else { return nil }
        // As in UTCTime, years begin in March here. An era is added, so that the year is not negative.
        let marchYear = 400 + (month <= 2 ? year - 1 : year)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let days = marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear
        return (days - 719_468 - 146_097) * 86_400
    }

    /// Reads a time of the day such as `18:05` or `18:05:30`, and returns its seconds since midnight.
    package mutating func timeOfDay(lastSecond: Int = 59) -> Int? {
        guard let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60 else { return nil }
        hasSeconds = skip(":")
        guard hasSeconds else { return hour * 3600 + minute * 60 }
        guard let second = number(2), second <= lastSecond else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

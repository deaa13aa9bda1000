// SPDX-License-Identifier: Apache-2.0

/// A second in UTC and the Gregorian calendar, as text.
package struct UTCTime {
    private let days: Int
    private let second: Int
    private let year, month, day: Int

    /// Converts seconds since 1970.
    private init(_ seconds: Int) {
        second = (seconds % 86_400 + 86_400) % 86_400
        days = (seconds - seconds % 86_400) / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
        // Years begin in March here, so that the day that some years lack is the last one. An era has 400 years.
        let dayOfEra = ((days + 719_468) % 146_097 + 146_097) % 146_097
        let era = (days + 719_468 - dayOfEra) / 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        month = part < 10 ? part + 3 : part - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * part + 2) / 5 + 1
    }

    /// Returns seconds since 1970 in the format of ISO 8601, such as `2026-11-21T18:05:00Z`; a year after 9999 has more
    /// digits.
    package static func text(_ seconds: Int) -> String {
        let time = UTCTime(seconds)
        return "\(time.date)T\(time.minuteText):\(padded(time.second % 60))Z"
    }

    /// Returns seconds since 1970 for users, such as `2026-11-21 18:05 UTC`.
    package static func readableText(_ seconds: Int) -> String {
        let time = UTCTime(seconds)
        return "\(time.date) \(time.minuteText) UTC"
    }

    /// Returns the day of a time in seconds since 1970, such as `2026-11-21`.
    package static func dayText(_ seconds: Int) -> String { UTCTime(seconds).date }

    /// Returns seconds since 1970 as an IMF-fixdate (RFC 9110 section 5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`; a
    /// time before 1970 is that of 1970.
    package static func httpDate(_ seconds: Int) -> String {
        let time = UTCTime(max(0, seconds))
        let clock = "\(time.minuteText):\(padded(time.second % 60))"
        return "\(dayNames[time.days % 7]), \(padded(time.day)) \(monthNames[time.month - 1]) \(time.year) \(clock) GMT"
    }

    // 1970 began with a Thursday.
    private static let dayNames = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private var date: String { "\(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(day))" }

    private var minuteText: String { "\(Self.padded(second / 3600)):\(Self.padded(second / 60 % 60))" }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

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

    /// Reads all digits that follow, and returns the milliseconds that they are as a fraction of a second; nil if there is
    /// none.
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

extension Duration {
    /// The number of whole nanoseconds: 0 for a negative duration, `Int64.max` for 292 years and more.
    ///
    /// The sum of any two values fits into a `UInt64`.
    package var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, sumOverflow) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return UInt64(overflow || sumOverflow ? .max : sum)
    }
}

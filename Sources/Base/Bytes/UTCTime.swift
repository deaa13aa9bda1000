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

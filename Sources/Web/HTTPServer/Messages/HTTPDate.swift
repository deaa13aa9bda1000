// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The Date field, RFC 9110 section 6.6.1.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the field with its line end.
    ///
    /// - Parameter text: The value, from ``text(_:)``.
    /// - Returns: For example `Date: Sun, 06 Nov 1994 08:49:37 GMT`.
    static func field(_ text: String) -> ByteBuffer { ByteBuffer(string: "Date: \(text)\r\n") }

    /// Returns an IMF-fixdate, RFC 9110 section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter seconds: Seconds since 1970-01-01 00:00 UTC; 0 or more.
    /// - Returns: The date.
    static func text(_ seconds: Int) -> String {
        let seconds = max(0, seconds)
        let day = seconds / 86_400
        let (year, month, dayOfMonth) = date(day)
        let clock = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map(padded).joined(separator: ":")
        return "\(days[day % 7]), \(padded(dayOfMonth)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    /// Returns the date in the Gregorian calendar.
    ///
    /// Years begin in March here, so that a leap day is the last day of a year.
    private static func date(_ daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        // Days are counted from 0000-03-01, in eras of 400 years. An era has 146,097 days.
        let days = daysSince1970 + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day)
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

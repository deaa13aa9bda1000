// SPDX-License-Identifier: Apache-2.0

/// Times in UTC and the Gregorian calendar, in the format of ISO 8601.
package enum UTCTime {
    /// Returns the seconds since 1970 as text, such as `2026-11-21T18:05:00Z`; a year after 9999 has more digits.
    package static func text(_ seconds: Int) -> String {
        let days = floor(seconds, by: 86_400)
        let second = seconds - days * 86_400
        let time = "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
        return "\(date(days))T\(time)Z"
    }

    /// Returns the seconds since 1970 as text for users, such as `2026-11-21 18:05 UTC`.
    package static func readableText(_ seconds: Int) -> String {
        let days = floor(seconds, by: 86_400)
        let second = seconds - days * 86_400
        return "\(date(days)) \(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)) UTC"
    }

    /// Returns the seconds since 1970; months and days begin with 1, a leap second is 60, and nil is no such time.
    package static func seconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Int? {
        guard (1...12).contains(month), (1...length(ofMonth: month, year: year)).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        return ((days(year: year, month: month, day: day) * 24 + hour) * 60 + minute) * 60 + second
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days since 1970; years begin in March here, so that the day that some years lack is the last one.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }

    private static func date(_ days: Int) -> String {
        let shifted = days + 719_468
        let era = floor(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfYear - (153 * part + 2) / 5 + 1, 2))"
    }

    private static func floor(_ number: Int, by divisor: Int) -> Int {
        number >= 0 ? number / divisor : (number - divisor + 1) / divisor
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
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

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
            let seconds = Self.seconds(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        milliseconds = seconds * 1000 + fraction
    }

    /// Returns the seconds since 1970; nil if there is no such time.
    static func seconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Int? {
        // A leap second has the number 60.
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

    /// The days since 1970 in the Gregorian calendar.
    ///
    /// Years begin in March here, so that the day that some years lack is the last one.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }

    /// The time as the log writes it.
    package var description: String {
        let seconds = Int((Double(milliseconds) / 1000).rounded(.down))
        let (days, second) = (Self.floor(seconds, by: 86_400), seconds - Self.floor(seconds, by: 86_400) * 86_400)
        let shifted = days + 719_468
        let era = Self.floor(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date =
            "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(dayOfYear - (153 * part + 2) / 5 + 1, 2))"
        let time = "\(Self.padded(second / 3600, 2)):\(Self.padded(second / 60 % 60, 2)):\(Self.padded(second % 60, 2))"
        return "\(date)T\(time).\(Self.padded(milliseconds - seconds * 1000, 3))Z"
    }

    private static func floor(_ number: Int, by divisor: Int) -> Int {
        number >= 0 ? number / divisor : (number - divisor + 1) / divisor
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

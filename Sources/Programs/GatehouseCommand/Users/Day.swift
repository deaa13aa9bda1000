// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import FoundationEssentials

/// Days of the calendar, in UTC.
enum Day {
    /// Returns the end of a day in seconds since 1970.
    ///
    /// The end of a day is the first second of the next day.
    static func end(of text: String) throws(CommandError) -> Int {
        do {
            let day = try Date(text, strategy: style)
            guard day.formatted(style) == text else {
                throw CommandError(.usage, "a day is written as in 2027-01-31, not \(Printable.line(text))")
            }
            return Int(day.timeIntervalSince1970) + 86_400
        } catch {
            throw CommandError(.usage, "a day is written as in 2027-01-31, not \(Printable.line(text))")
        }
    }

    /// Returns the last day that ends at or before a time.
    static func last(before moment: Int) -> String {
        Date(timeIntervalSince1970: TimeInterval(moment - 1)).formatted(style)
    }

    private static let style = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
}

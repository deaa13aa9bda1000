// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandSupport
internal import FoundationEssentials

/// Days of the calendar, in UTC.
enum Day {
    /// The end of a day, in seconds since 1970: the first second that is not part of it.
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

    /// The last day that ends before a moment, or at it.
    static func last(before moment: Int) -> String {
        Date(timeIntervalSince1970: TimeInterval(moment - 1)).formatted(style)
    }

    private static let style = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A time of the log, in UTC.
struct LogTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970.
    let milliseconds: Int

    init(milliseconds: Int) { self.milliseconds = milliseconds }

    static func < (left: LogTime, right: LogTime) -> Bool { left.milliseconds < right.milliseconds }

    /// The number of bytes of a time in the log, such as `2026-11-22T02:29:33.448Z`.
    static let length = 24

    /// Reads the time whose first digit is at a place of a line of the log.
    init?(_ bytes: [UInt8], at start: Int) {
        var reader = UTCTimeReader(bytes, at: start)
        guard let day = reader.day(), reader.skip("T"), let second = reader.timeOfDay(lastSecond: 60),
            reader.hasSeconds, reader.skip("."), let fraction = reader.number(3), reader.skip("Z")
        else { return nil }
        milliseconds = (day + second) * 1000 + fraction
    }

    /// The time as the log writes it.
    var description: String {
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
    init?(_ text: String, now: LogTime) {
        guard text.utf8.count <= 40 else { return nil }
        let before = Self.length(text).map { LogTime(milliseconds: now.milliseconds - $0) }
        guard let time = before ?? Self.timeOfDay(text, now: now) ?? Self.date(text) else { return nil }
        self = time
    }

    /// Reads `90s`, `30m`, `2h` or `7d` after now, or a date and time of ISO 8601, which may be before now.
    init?(after now: LogTime, _ text: String) {
        guard text.utf8.count <= 40 else { return nil }
        let after = Self.length(text).map { LogTime(milliseconds: now.milliseconds + $0) }
        guard let time = after ?? Self.date(text) else { return nil }
        self = time
    }

    /// Reads `90s`, `30m`, `2h` or `7d`, in milliseconds.
    private static func length(_ text: String) -> Int? {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let digits = text.dropLast()
        guard text.utf8.count <= 8, let unit = text.last.flatMap({ units[$0] }), digits.utf8.allSatisfy(ASCII.isDigit)
        else { return nil }
        return Int(digits).map { $0 * unit * 1000 }
    }

    private static func timeOfDay(_ text: String, now: LogTime) -> LogTime? {
        var reader = UTCTimeReader(Array(text.utf8))
        guard let second = reader.timeOfDay(), reader.isAtEnd else { return nil }
        let today = now.milliseconds - now.milliseconds % 86_400_000 + second * 1000
        return LogTime(milliseconds: today <= now.milliseconds ? today : today - 86_400_000)
    }

    private static func date(_ text: String) -> LogTime? {
        var reader = UTCTimeReader(Array(text.utf8))
        guard let day = reader.day() else { return nil }
        var (second, fraction) = (0, 0)
        if reader.skip("T") {
            guard let time = reader.timeOfDay() else { return nil }
            second = time
            if reader.skip(".") {
                guard let found = reader.fraction(), found.digits <= 9 else { return nil }
                fraction = found.milliseconds
            }
            let sign = reader.skip("+") ? 1 : reader.skip("-") ? -1 : 0
            if sign != 0 {
                guard let offset = reader.timeOfDay() else { return nil }
                second -= sign * offset
            } else {
                _ = reader.skip("Z")
            }
        }
        return reader.isAtEnd ? LogTime(milliseconds: (day + second) * 1000 + fraction) : nil
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A time in a column: seconds since 1970, a date, or a date with a time in UTC or with an offset.
enum SQLTime: Sendable, Hashable {
    case never
    case at(Int)

    /// Returns whether the time has come.
    func isReached(at now: Int) -> Bool {
        switch self {
        case .never: false
        case .at(let time): time <= now
        }
    }

    /// Reads a time; nil for a text that is none.
    ///
    /// A number with more than eleven digits is probably of milliseconds, and is refused: as seconds, it would never
    /// come.
    init?(_ text: String) {
        let text = CharPadding.removed(from: text)
        switch text.lowercased() {
        case "infinity":
            self = .never
            return
        case "-infinity":
            self = .at(.min)
            return
        default: break
        }
        let bytes = Array(text.utf8)
        if let number = Int(text) {
            guard (-99_999_999_999...99_999_999_999).contains(number) else { return nil }
            self = .at(number)
            return
        }
        var reader = Reader(bytes)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2)
        else { return nil }
        var (hour, minute, second, offset) = (0, 0, 0, 0)
        if reader.skip("T") || reader.skip(" ") {
            guard let hours = reader.number(2), reader.skip(":"), let minutes = reader.number(2) else { return nil }
            (hour, minute) = (hours, minutes)
            if reader.skip(":") {
                guard let seconds = reader.number(2) else { return nil }
                second = seconds
                if reader.skip(".") { guard reader.skipDigits() else { return nil } }
            }
            guard let found = reader.offset() else { return nil }
            offset = found
        }
        guard reader.isAtEnd,
            let seconds = UTCTime.seconds(
                year: year,
                month: month,
                day: day,
                hour: hour,
                minute: minute,
                second: second
            )
        else { return nil }
        self = .at(seconds - offset)
    }

    private struct Reader {
        private let bytes: [UInt8]
        private var place = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool { place == bytes.count }

        mutating func skip(_ character: Character) -> Bool {
            guard place < bytes.count, bytes[place] == character.asciiValue else { return false }
            place += 1
            return true
        }

        mutating func skipDigits() -> Bool {
            let start = place
            while place < bytes.count, (0x30...0x39).contains(bytes[place]) { place += 1 }
            return place > start
        }

        mutating func number(_ digits: Int) -> Int? {
            guard place + digits <= bytes.count else { return nil }
            var value = 0
            for byte in bytes[place..<(place + digits)] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int(byte - 0x30)
            }
            place += digits
            return value
        }

        /// Reads `Z`, `+01`, `+01:30`, `-0800` or nothing, and returns the seconds.
        mutating func offset() -> Int? {
            if isAtEnd || skip("Z") { return 0 }
            let sign = skip("+") ? 1 : skip("-") ? -1 : 0
            guard sign != 0, let hours = number(2) else { return nil }
            guard !isAtEnd else { return sign * hours * 3600 }
            _ = skip(":")
            guard let minutes = number(2) else { return nil }
            return sign * (hours * 3600 + minutes * 60)
        }
    }
}

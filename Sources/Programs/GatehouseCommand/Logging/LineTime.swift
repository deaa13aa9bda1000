// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Glibc
internal import Synchronization

/// The time at the beginning of a log line, in UTC, in the format of RFC 3339 with milliseconds.
enum LineTime {
    /// The number of bytes of a time.
    static let length = "2026-11-24T00:00:00.000Z".utf8.count

    /// The second of the last line, and its text.
    ///
    /// The text is kept, because thousands of lines may have the same second.
    private static let lastSecond = Mutex((second: 0, text: [UInt8]()))

    /// Appends the present time.
    ///
    /// - Parameter line: The line.
    static func append(to line: inout [UInt8]) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        line += lastSecond.withLock { last in
            if last.second != now.tv_sec { last = (now.tv_sec, text(second: now.tv_sec)) }
            return last.text
        }
        ASCII.append(decimal: now.tv_nsec / 1_000_000, width: 3, to: &line)
        line.append(UInt8(ascii: "Z"))
    }

    /// Returns the time up to the decimal point.
    private static func text(second: Int) -> [UInt8] {
        var second = second
        var parts = unsafe tm()
        unsafe gmtime_r(&second, &parts)
        var text: [UInt8] = []
        ASCII.append(decimal: Int(unsafe parts.tm_year) + 1900, width: 4, to: &text)
        text.append(UInt8(ascii: "-"))
        ASCII.append(decimal: Int(unsafe parts.tm_mon) + 1, width: 2, to: &text)
        text.append(UInt8(ascii: "-"))
        ASCII.append(decimal: Int(unsafe parts.tm_mday), width: 2, to: &text)
        text.append(UInt8(ascii: "T"))
        ASCII.append(decimal: Int(unsafe parts.tm_hour), width: 2, to: &text)
        text.append(UInt8(ascii: ":"))
        ASCII.append(decimal: Int(unsafe parts.tm_min), width: 2, to: &text)
        text.append(UInt8(ascii: ":"))
        ASCII.append(decimal: Int(unsafe parts.tm_sec), width: 2, to: &text)
        text.append(UInt8(ascii: "."))
        return text
    }
}

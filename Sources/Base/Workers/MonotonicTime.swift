// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Times of the system's monotonic clock, in nanoseconds.
package enum MonotonicTime {
    /// The current time.
    package static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// Returns a text such as `1.5 ms` for the time that has passed since another time.
    ///
    /// - Parameter start: The other time.
    /// - Returns: The milliseconds with one decimal place, rounded down.
    package static func text(since start: UInt64) -> String { text(now &- start) }

    /// Returns a text such as `1.5 ms` for a length of time.
    ///
    /// - Parameter time: The nanoseconds.
    /// - Returns: The milliseconds with one decimal place, rounded down.
    package static func text(_ time: UInt64) -> String {
        let tenths = time / 100_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    /// Returns the number of milliseconds until a time for poll(2), rounded up.
    ///
    /// - Parameter time: The time.
    /// - Returns: The milliseconds; 0 if the time has passed.
    package static func milliseconds(until time: UInt64) -> Int32 {
        let now = now
        guard time > now else { return 0 }
        return Int32(clamping: (time - now) / 1_000_000 + 1)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import RealmKit

/// The times of a session, in nanoseconds of the table's clock.
struct SessionTimes: Sendable, Hashable {
    var seen: UInt64
    var idleEnd: UInt64
    let absoluteEnd: UInt64
    /// The duration between the warning and the end.
    var warning: UInt64

    /// The end, if the session is not used again.
    var end: UInt64 { min(idleEnd, absoluteEnd) }
    /// The moment at which clients are warned, if the session is not used again.
    var warningMoment: UInt64 { end - min(warning, end) }
    /// The cause of the end, if the session is not used again.
    var cause: SessionEndCause { absoluteEnd <= idleEnd ? .absolute : .idle }
}

/// The durations of ``SessionSettings`` in nanoseconds.
struct SessionLimits: Sendable {
    let idle: UInt64
    let absolute: UInt64
    let warning: UInt64

    init(_ settings: SessionSettings) {
        idle = settings.idle.nanoseconds
        absolute = settings.absolute.nanoseconds
        // The warning is limited to half of the idle time. A session is then not about to expire right after a use.
        warning = min(settings.warning.nanoseconds, idle / 2)
    }

    func idleEnd(after moment: UInt64) -> UInt64 { Self.sum(moment, idle) }

    static func sum(_ moment: UInt64, _ length: UInt64) -> UInt64 {
        let (sum, overflow) = moment.addingReportingOverflow(length)
        return overflow ? .max : sum
    }

    /// Returns the nanoseconds between two times in seconds; 0 if `to` is before `from`.
    static func nanoseconds(from: Int, to: Int) -> UInt64 {
        guard to > from else { return 0 }
        let (seconds, overflow) = to.subtractingReportingOverflow(from)
        return Duration.seconds(overflow ? .max : seconds).nanoseconds
    }
}

/// The monotonic clock that ends sessions, and the wall clock for users and the store.
struct SessionClocks: Sendable {
    let clock: any LoginClock
    let wall: WallClock

    /// An offset that is added to the clock.
    ///
    /// Without it, a restored session could have begun before the zero of the clock.
    private static let origin: UInt64 = 1_000_000_000_000_000_000

    var now: UInt64 { clock.now &+ Self.origin }

    /// Converts a moment to seconds since 1970 by the current time of both clocks, rounded down.
    func wall(of moment: UInt64) -> Int {
        let now = now
        let seconds = wall.seconds
        let second: UInt64 = 1_000_000_000
        return moment >= now
            ? seconds + Int(clamping: (moment - now) / second)
            : seconds - Int(clamping: (now - moment + second - 1) / second)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// The moments of a session, in nanoseconds of the table's clock.
struct SessionTimes: Sendable, Hashable {
    var seen: UInt64
    var idleEnd: UInt64
    let absoluteEnd: UInt64
    /// How long before its end its clients are warned.
    var warning: UInt64

    /// When it ends if nobody uses it.
    var end: UInt64 { min(idleEnd, absoluteEnd) }
    /// When its clients are warned if nobody uses it.
    var warningMoment: UInt64 { end - min(warning, end) }
    /// Why it ends, if nobody uses it.
    var cause: SessionEnd { absoluteEnd <= idleEnd ? .absolute : .idle }
}

/// ``SessionSettings`` in nanoseconds.
struct SessionLimits: Sendable {
    let idle: UInt64
    let absolute: UInt64
    let warning: UInt64

    init(_ settings: SessionSettings) {
        idle = Self.nanoseconds(settings.idle)
        absolute = Self.nanoseconds(settings.absolute)
        // A session that has just been used is not about to expire, however short its life.
        warning = min(Self.nanoseconds(settings.warning), idle / 2)
    }

    func idleEnd(after moment: UInt64) -> UInt64 { Self.sum(moment, idle) }

    static func sum(_ moment: UInt64, _ length: UInt64) -> UInt64 {
        let (sum, overflow) = moment.addingReportingOverflow(length)
        return overflow ? .max : sum
    }

    /// The time between two times in seconds; none if they are the other way round.
    static func nanoseconds(from: Int, to: Int) -> UInt64 {
        guard to > from else { return 0 }
        let (seconds, overflow) = to.subtractingReportingOverflow(from)
        return nanoseconds(seconds: overflow ? .max : seconds)
    }

    static func nanoseconds(seconds: Int) -> UInt64 {
        let (product, overflow) = UInt64(max(0, seconds)).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product
    }

    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return sum(nanoseconds(seconds: Int(clamping: seconds)), UInt64(attoseconds / 1_000_000_000))
    }
}

/// The clock that decides, and the one that people read.
struct SessionClocks: Sendable {
    let clock: any LoginClock
    let wall: WallClock

    /// The clock may have begun to run a moment ago, and sessions be much older.
    private static let origin: UInt64 = 1_000_000_000_000_000_000

    var now: UInt64 { clock.now &+ Self.origin }

    /// A moment in seconds since 1970, as the clocks stand now; rather too early than too late.
    func wall(of moment: UInt64) -> Int {
        let now = now
        let seconds = wall.seconds
        let second: UInt64 = 1_000_000_000
        return moment >= now
            ? seconds + Int(clamping: (moment - now) / second)
            : seconds - Int(clamping: (now - moment + second - 1) / second)
    }
}

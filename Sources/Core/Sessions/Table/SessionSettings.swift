// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The settings of the `sessions` block of realms.conf: the lifetime and the maximum number of sessions.
public struct SessionSettings: Sendable, Hashable {
    /// The idle limit: a session ends after this time without a request, by default 30 minutes.
    public var idle = Duration.seconds(1800)
    /// The absolute limit: a session ends after this time in any case, by default 12 hours.
    public var absolute = Duration.seconds(43_200)
    /// The time before the end of a session at which its clients are warned, by default 2 minutes.
    public var warning = Duration.seconds(120)
    /// The maximum number of sessions of a user, by default 10; a further sign-in ends the least recently used one.
    public var perUser = 10
    /// The maximum number of sessions of all users, by default 100,000; then a sign-in fails.
    public var total = 100_000
    /// The maximum number of open event streams of a session, by default 8.
    public var streamsPerSession = 8
    /// The maximum number of open event streams, by default 5,000; then the user with the most streams loses one.
    public var streams = 5000
    /// The maximum for a user, with sessions at many hosts: as many as the user's sign-ins may have at one host.
    var streamsPerUser: Int { streamsPerSession * max(1, perUser) }

    /// The defaults.
    public init() {}
}

/// The times of a session, in nanoseconds of the table's clock.
struct SessionTimes: Sendable, Hashable {
    var lastSeen: UInt64
    var idleEnd: UInt64
    let absoluteEnd: UInt64
    /// The duration from the warning to the end.
    var warningLength: UInt64

    /// The end, if the session is not used again.
    var end: UInt64 { min(idleEnd, absoluteEnd) }
    /// The moment at which clients are warned, if the session is not used again.
    var warningMoment: UInt64 { end - min(warningLength, end) }
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
        // The warning is limited to half of the idle time. Otherwise clients could be warned right after a request.
        warning = min(settings.warning.nanoseconds, idle / 2)
    }

    func idleEnd(after moment: UInt64) -> UInt64 { Self.saturatingSum(moment, idle) }

    /// Returns the maximum of `UInt64` instead of an overflow.
    static func saturatingSum(_ moment: UInt64, _ length: UInt64) -> UInt64 {
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

    /// Added to the monotonic clock, which may start at 0 with the computer, so that restored times are not negative.
    private static let origin: UInt64 = 1_000_000_000_000_000_000

    var now: UInt64 { clock.now &+ Self.origin }

    /// Returns seconds since 1970, rounded down, by the present difference of the two clocks.
    func unixSeconds(of moment: UInt64) -> Int {
        let now = now
        let seconds = wall.seconds
        let second: UInt64 = 1_000_000_000
        return moment >= now
            ? seconds + Int(clamping: (moment - now) / second)
            : seconds - Int(clamping: (now - moment + second - 1) / second)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit
internal import Synchronization

/// A session of a signed-in user.
///
/// A ``SessionTable`` makes, finds and ends it. Its times are seconds since 1970, for display; a monotonic clock decides.
/// It may be used from any thread.
public final class Session: Sendable {
    /// The id, which is not a secret.
    public let id: SessionID
    /// The user who has signed in.
    public let user: SignedInUser
    /// The host that its cookie was set for; it is not found at another.
    public let host: SessionHost
    /// The client that began it.
    public let client: SessionClient
    /// The time at which it began.
    public let created: Int
    /// The identity of the sign-in; nil for a session that was restored from a store.
    ///
    /// It has the user, the groups and the modules that the login reached.
    public let identity: AuthenticatedIdentity?

    /// The user's security stamp at the sign-in; nil if the realm has none.
    let stamp: SaltedStamp?
    let clocks: SessionClocks
    /// The moment at which it ends in any case.
    let absoluteEnd: UInt64
    let journal = Mutex(EventJournal())
    /// Responses that depend on nothing but the session.
    package let responses = ResponseCache()

    // They are read without a lock and written under the table's. None depends on another.
    private let seen: Atomic<UInt64>
    private let idleEnd: Atomic<UInt64>
    private let warning: Atomic<UInt64>
    private let ended = Atomic<UInt8>(0)
    private let isTouched = Atomic(false)
    private let isWarned = Atomic(false)
    private let hasWrongHost = Atomic(false)

    init(
        _ id: SessionID,
        of user: SignedInUser,
        at host: SessionHost,
        from client: SessionClient,
        identity: AuthenticatedIdentity?,
        created: Int,
        stamp: SaltedStamp?,
        times: SessionTimes,
        clocks: SessionClocks
    ) {
        self.id = id
        self.user = user
        self.host = host
        self.client = client
        self.identity = identity
        self.created = created
        self.stamp = stamp
        self.clocks = clocks
        absoluteEnd = times.absoluteEnd
        seen = Atomic(times.seen)
        idleEnd = Atomic(times.idleEnd)
        warning = Atomic(times.warning)
    }

    /// The time of its last use.
    public var lastSeen: Int { max(created, clocks.wall(of: times.seen)) }
    /// The time at which it ends without another use; never after ``absoluteExpiry``.
    public var idleExpiry: Int { clocks.wall(of: times.end) }
    /// The time at which it ends in any case.
    public var absoluteExpiry: Int { clocks.wall(of: absoluteEnd) }
    /// The time at which its clients are warned of its end, without another use.
    public var warningTime: Int { clocks.wall(of: times.warningMoment) }
    /// The cause of its end; nil while it is valid, and until its expiry has been detected.
    public var end: SessionEnd? { SessionEnd(number: ended.load(ordering: .acquiring)) }

    // MARK: For the table, under its lock

    var times: SessionTimes {
        SessionTimes(
            seen: seen.load(ordering: .relaxed),
            idleEnd: idleEnd.load(ordering: .relaxed),
            absoluteEnd: absoluteEnd,
            warning: warning.load(ordering: .relaxed)
        )
    }

    var hasEnded: Bool { ended.load(ordering: .relaxed) != 0 }

    /// Returns whether it is valid; an expired session may still be in the table.
    func isLive(_ now: UInt64) -> Bool {
        !hasEnded && now < absoluteEnd && now < idleEnd.load(ordering: .relaxed)
    }

    func setEnd(_ cause: SessionEnd) { ended.store(cause.number, ordering: .releasing) }

    /// Records a use.
    ///
    /// - Returns: True if the use has postponed an end of which clients were warned.
    func touch(at now: UInt64, limits: SessionLimits) -> Bool {
        let before = times
        // Moments come from several threads, not always in order.
        if now > before.seen { seen.store(now, ordering: .relaxed) }
        idleEnd.store(limits.idleEnd(after: max(now, before.seen)), ordering: .relaxed)
        warning.store(limits.warning, ordering: .relaxed)
        guard isWarned.load(ordering: .relaxed), times.end > before.end else { return false }
        isWarned.store(false, ordering: .relaxed)
        return true
    }

    /// Records that its clients are warned.
    ///
    /// - Returns: False if they were warned before.
    func warn() -> Bool { !isWarned.exchange(true, ordering: .relaxed) }

    /// Records that its token was presented at another host.
    ///
    /// - Returns: False if that was recorded before.
    func noteWrongHost() -> Bool { !hasWrongHost.exchange(true, ordering: .relaxed) }

    /// The moment at which it has to be warned or ended, without another use.
    var nextMoment: UInt64 {
        let times = times
        return isWarned.load(ordering: .relaxed) ? times.end : min(times.warningMoment, times.end)
    }

    /// Records that its times have to be stored.
    ///
    /// - Returns: False if that was recorded before.
    func noteTouch() -> Bool { !isTouched.exchange(true, ordering: .relaxed) }

    func clearTouch() { isTouched.store(false, ordering: .relaxed) }
}

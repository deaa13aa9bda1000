// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit
internal import Synchronization

/// Somebody who has signed in, until the session's end.
///
/// A ``SessionTable`` makes, finds and ends it. Times are told in seconds since 1970, for showing; what decides is a clock
/// that nobody can set. It may be used from any thread.
public final class Session: Sendable {
    /// What clients and administrators call it by.
    public let id: SessionID
    /// Who has signed in.
    public let user: SignedInUser
    /// Whence.
    public let client: SessionClient
    /// When it began.
    public let created: Int
    /// The proof that it was begun with; nil for one that has outlived a server.
    public let identity: AuthenticatedIdentity?

    /// What decided about the user then; nil if the realm could not say.
    let stamp: SaltedStamp?
    let clocks: SessionClocks
    /// The moment at which it ends, whatever happens.
    let absoluteEnd: UInt64
    let journal = Mutex(EventJournal())
    private let made = Mutex(MadeValues())

    // They are read without a lock, and written under that of the table only. Each stands for itself.
    private let seen: Atomic<UInt64>
    private let idleEnd: Atomic<UInt64>
    private let warning: Atomic<UInt64>
    private let ended = Atomic<UInt8>(0)
    private let isTouched = Atomic(false)
    private let isWarned = Atomic(false)

    init(
        _ id: SessionID,
        _ user: SignedInUser,
        _ client: SessionClient,
        _ identity: AuthenticatedIdentity?,
        created: Int,
        stamp: SaltedStamp?,
        _ times: SessionTimes,
        _ clocks: SessionClocks
    ) {
        self.id = id
        self.user = user
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

    /// When it was used last.
    public var lastSeen: Int { max(created, clocks.wall(of: times.seen)) }
    /// When it ends if nobody uses it; never after ``absoluteExpiry``.
    public var idleExpiry: Int { clocks.wall(of: times.end) }
    /// When it ends, whatever happens.
    public var absoluteExpiry: Int { clocks.wall(of: absoluteEnd) }
    /// When it is said to expire, if nobody uses it until then.
    public var warningTime: Int { clocks.wall(of: times.warningMoment) }
    /// Why it is over; nil while it lives, and until somebody has noticed that its time is.
    public var end: SessionEnd? { SessionEnd(number: ended.load(ordering: .acquiring)) }

    /// A value that follows from nothing but the session, made when it is first asked for.
    ///
    /// It is forgotten when the session gets another token. It may be made twice by two threads at once; one of them counts.
    ///
    /// - Parameters:
    ///   - key: Stands for what it is, at most 32 of them for a session: further ones are made each time.
    ///   - make: Makes it.
    /// - Returns: The value.
    public func cached<Value: Sendable>(_ key: Int, _ make: () -> Value) -> Value {
        let (known, generation) = made.withLock { ($0.values[key] as? MadeValue<Value>, $0.generation) }
        if let known { return known.value }
        // Not under the lock: it may ask for another value.
        let value = MadeValue(make())
        made.withLock { $0.keep(value, key, generation) }
        return value.value
    }

    func forgetCached() { made.withLock { $0.forget() } }

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

    /// Whether its time is not over, noticed or not.
    func isLive(_ now: UInt64) -> Bool {
        !hasEnded && now < absoluteEnd && now < idleEnd.load(ordering: .relaxed)
    }

    func setEnd(_ cause: SessionEnd) { ended.store(cause.number, ordering: .releasing) }

    /// Takes note that it was used.
    ///
    /// - Returns: Whether that moved an end of which its clients had been warned.
    func touch(_ now: UInt64, _ limits: SessionLimits) -> Bool {
        let before = times
        // Moments come from several threads, not always in order.
        if now > before.seen { seen.store(now, ordering: .relaxed) }
        idleEnd.store(limits.idleEnd(after: max(now, before.seen)), ordering: .relaxed)
        warning.store(limits.warning, ordering: .relaxed)
        guard isWarned.load(ordering: .relaxed), times.end > before.end else { return false }
        isWarned.store(false, ordering: .relaxed)
        return true
    }

    /// Takes note that its clients are warned.
    ///
    /// - Returns: False if they were already.
    func warn() -> Bool { !isWarned.exchange(true, ordering: .relaxed) }

    /// What is to be done about it next, if nobody uses it.
    var nextMoment: UInt64 {
        let times = times
        return isWarned.load(ordering: .relaxed) ? times.end : min(times.warningMoment, times.end)
    }

    /// Takes note that its times are to be stored.
    ///
    /// - Returns: False if they were already to be.
    func noteTouch() -> Bool { !isTouched.exchange(true, ordering: .relaxed) }

    func forgetTouch() { isTouched.store(false, ordering: .relaxed) }
}

/// Values that were made of a session.
private struct MadeValues: Sendable {
    /// How many there may be.
    static let bound = 32

    var values: [Int: any Sendable & AnyObject] = [:]
    var generation = 0

    mutating func keep(_ value: any Sendable & AnyObject, _ key: Int, _ generation: Int) {
        guard generation == self.generation, values.count < Self.bound || values[key] != nil else { return }
        values[key] = value
    }

    mutating func forget() {
        values = [:]
        generation += 1
    }
}

/// One of them: a class, as the type of an object is asked for more cheaply than that of a value.
private final class MadeValue<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

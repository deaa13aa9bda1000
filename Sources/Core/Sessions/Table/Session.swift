// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
public import RealmKit
internal import Synchronization

/// A session of a signed-in user.
///
/// A `SessionTable` creates, finds and ends sessions. The public times are seconds since 1970 and are meant for
/// display. A monotonic clock decides when a session ends. A session may be used from any thread.
public final class Session: Sendable {
    /// The id of the session, which is not a secret.
    public let id: SessionID
    /// The user who has signed in.
    public let user: SignedInUser
    /// The host whose response has set the session cookie; the session is not found at another host.
    public let host: SessionHost
    /// The session of the sign-in that this session was handed over from; nil for the session of a sign-in.
    ///
    /// A child session has the times of its parent, ends with it, and its use is a use of the parent.
    public let parent: Session?
    /// The session of the sign-in: the parent, or this session if it has no parent.
    public var signIn: Session { parent ?? self }
    /// The client that began the session.
    public let client: SessionClient
    /// The time of the beginning.
    public let created: Int
    /// The user, the groups and the modules of the sign-in; nil for a restored session and for a child session.
    public let identity: AuthenticatedIdentity?

    /// The SHA-256 of the token by which the session is found.
    let token: Digest
    /// The user's security stamp at the sign-in; nil if the realm has no stamps.
    let stamp: SaltedStamp?
    let clocks: SessionClocks
    let journal = Mutex(EventJournal())
    package let responses = ResponseCache()
    private let status: Mutex<Status>

    private struct Status {
        var times: SessionTimes
        var end: SessionEndCause?
        var isWarned = false
        var hasWrongHost = false
    }

    init(
        _ id: SessionID,
        token: Digest,
        of user: SignedInUser,
        at host: SessionHost,
        parent: Session? = nil,
        from client: SessionClient,
        identity: AuthenticatedIdentity? = nil,
        created: Int,
        stamp: SaltedStamp?,
        times: SessionTimes,
        clocks: SessionClocks
    ) {
        self.id = id
        self.token = token
        self.user = user
        self.host = host
        self.parent = parent
        self.client = client
        self.identity = identity
        self.created = created
        self.stamp = stamp
        self.clocks = clocks
        status = Mutex(Status(times: times))
    }

    /// The time of the last use.
    public var lastSeen: Int { max(created, clocks.unixSeconds(of: times.lastSeen)) }
    /// The time at which the session ends if it is not used again, never after ``absoluteExpiry``.
    public var idleExpiry: Int { clocks.unixSeconds(of: times.end) }
    /// The time at which the session ends in any case.
    public var absoluteExpiry: Int { clocks.unixSeconds(of: times.absoluteEnd) }
    /// The time at which the clients are warned of the end if the session is not used again.
    public var warningTime: Int { clocks.unixSeconds(of: times.warningMoment) }
    /// The cause of the end; nil while the session is valid, and until the table has detected the expiry.
    public var end: SessionEndCause? { status.withLock { $0.end } }

    // MARK: Functions that the table calls under its lock

    var times: SessionTimes { parent?.times ?? status.withLock { $0.times } }

    /// Returns whether the session has neither ended nor expired; an expired one is in the table until the next sweep.
    func isLive(_ now: UInt64) -> Bool { end == nil && now < times.end }

    func setEnd(_ cause: SessionEndCause) { status.withLock { $0.end = cause } }

    /// Records a use of a session without a parent; true if the clients were warned and the use has postponed the end.
    func touch(at now: UInt64, limits: SessionLimits) -> Bool {
        status.withLock { status in
            let before = status.times
            // Uses are recorded by several threads, so they may be recorded in the wrong order.
            status.times.lastSeen = max(now, before.lastSeen)
            status.times.idleEnd = limits.idleEnd(after: status.times.lastSeen)
            status.times.warningLength = limits.warning
            guard status.isWarned, status.times.end > before.end else { return false }
            status.isWarned = false
            return true
        }
    }

    /// Records that the clients are warned; false if this was already recorded.
    func markWarned() -> Bool { mark(\.isWarned) }

    /// Records that the token was presented at another host; false if this was already recorded.
    func markWrongHost() -> Bool { mark(\.hasWrongHost) }

    private func mark(_ flag: WritableKeyPath<Status, Bool>) -> Bool {
        status.withLock { status in
            defer { status[keyPath: flag] = true }
            return !status[keyPath: flag]
        }
    }

    /// The next time at which the clients must be warned or the session must end, if the session is not used again.
    var nextMoment: UInt64 {
        status.withLock { $0.isWarned ? $0.times.end : min($0.times.warningMoment, $0.times.end) }
    }
}

/// The cause of the end of a session.
public enum SessionEndCause: String, Sendable, Hashable, CaseIterable {
    /// The user has signed out.
    case logout
    /// The session was not used within the idle limit.
    case idle
    /// The session has reached the absolute limit.
    case absolute
    /// An administrator has ended the session.
    case administrator
    /// The user has ended the session from another session of the user.
    case endedElsewhere = "ended-elsewhere"
    /// The user was removed or disabled, or the password or groups of the user have changed.
    case userChanged = "user-changed"
    /// The realm was removed or replaced.
    case realmGone = "realm-gone"
    /// The user has signed in more often than the maximum number of sessions of a user.
    case tooManySessions = "limit"
    /// The same client has signed in again.
    case replaced
}

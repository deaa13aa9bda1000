// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
package import RealmKit
internal import Synchronization

/// The sessions of a server.
///
/// - A session is found by its token. Memory and store contain only the SHA-256 of the token.
/// - A session belongs to the host that its cookie was set for; its token is not accepted at another host.
/// - A session ends at its idle limit or its absolute limit. Both are measured by a monotonic clock. An expired session
///   is not found, even if it has not been removed yet.
/// - A session ends in memory first and is then removed from the store. If the removal fails, the store records the end
///   elsewhere, and the removal is repeated every second.
/// - A user has at most ``SessionSettings/perUser`` sessions. A further sign-in ends the least recently used session.
/// - A session can have child sessions at other hosts. They have its times, end with it, and do not count for
///   ``SessionSettings/perUser``.
///
/// The table may be used from any thread. A server creates one table and keeps it over reloads of the configuration.
///
/// Sources: ASVS 7.2 to 7.4; CVE-2024-21492 (a session stayed valid after its end).
package final class SessionTable: Sendable {
    let clocks: SessionClocks
    let store: (any SessionStore)?
    let state: Mutex<TableState>
    let removals = Mutex(RemovalQueue())
    let streams = Mutex(OpenStreams())
    private let onWrongHost: @Sendable (Session, SessionHost) -> Void
    private let onEnd: @Sendable (Session, SessionEndCause) -> Void

    /// Creates a table without sessions, which are kept in memory only if there is no store; see ``restore(_:)``.
    ///
    /// The monotonic clock measures the lifetime of sessions; the wall clock is for users and for the store, and may be
    /// set at any time. `onWrongHost` is called once for each session whose token is presented at a host where it is not
    /// valid, so that a client cannot fill the log, and `onEnd` once for each session after its end. Both must not block.
    package init(
        _ settings: SessionSettings,
        store: (any SessionStore)? = nil,
        clock: any LoginClock,
        wall: WallClock,
        onWrongHost: @escaping @Sendable (Session, SessionHost) -> Void = { _, _ in },
        onEnd: @escaping @Sendable (Session, SessionEndCause) -> Void
    ) {
        clocks = SessionClocks(clock: clock, wall: wall)
        self.store = store
        self.onWrongHost = onWrongHost
        self.onEnd = onEnd
        state = Mutex(TableState(settings, hasStore: store != nil))
    }

    package var settings: SessionSettings { state.withLock { $0.settings } }

    /// Replaces the settings.
    ///
    /// Until its next use, an existing session keeps its idle end. Its absolute end does not change. If there are more
    /// sessions than the new limits allow, no session ends at once.
    package func use(_ settings: SessionSettings) {
        state.withLock { state in
            state.settings = settings
            state.limits = SessionLimits(settings)
            state.scheduleAll(at: clocks.now)
        }
    }

    /// The number of sessions, including those that have expired within the last second.
    package var count: Int { state.withLock { $0.count } }

    // MARK: Finding

    /// Returns the session of a token that was presented at a host; nil if it does not exist, has expired, or belongs to
    /// another host.
    ///
    /// With `isActivity`, the request counts as a use and postpones the idle end, unlike polling and event streams. A call
    /// computes one digest and holds the lock for a short time. It does not wait or allocate memory.
    package func session(_ token: OpaqueToken, at host: SessionHost, isActivity: Bool) -> Session? {
        guard let digest = try? token.digest() else { return nil }
        let now = clocks.now
        var isExtended = false
        var foreign: Session?
        let session = state.withLock { state -> Session? in
            guard let session = state.byToken[digest], session.isLive(now) else { return nil }
            guard session.host == host else {
                foreign = session
                return nil
            }
            if isActivity { isExtended = state.touch(session, at: now) }
            return session
        }
        if isExtended, let session { publishExtension(of: session) }
        if let foreign, foreign.markWrongHost() { onWrongHost(foreign, host) }
        return session
    }

    /// Returns the session with an id; nil if it does not exist or has expired.
    package func session(id: SessionID) -> Session? {
        let now = clocks.now
        return state.withLock { state in
            state.entries[id].flatMap { $0.session.isLive(now) ? $0.session : nil }
        }
    }

    /// Returns the sessions of a user's sign-ins, the oldest first, without child sessions; the groups do not matter.
    package func sessions(of user: SignedInUser) -> [Session] {
        let now = clocks.now
        return state.withLock { $0.sessions(of: SessionOwner(user)) }
            .filter { $0.isLive(now) }
            .sorted { $0.created < $1.created }
    }

    /// The sessions of all sign-ins, without child sessions, in no order.
    package var sessions: [Session] {
        let now = clocks.now
        return state.withLock { $0.entries.values.map(\.session) }.filter { $0.parent == nil && $0.isLive(now) }
    }

    // MARK: Using

    /// Postpones the idle end of a session that has not ended, as a request does; the absolute end does not change.
    package func refresh(_ session: Session) {
        let now = clocks.now
        let isExtended = state.withLock { state in
            session.isLive(now) && state.entries[session.id] != nil && state.touch(session, at: now)
        }
        if isExtended { publishExtension(of: session) }
    }

    func publishExtension(of session: Session) {
        for session in family(of: session) {
            session.journal.withLock { $0.publish(.extended(idleExpiry: session.idleExpiry)) }
        }
    }

    /// Returns the session of the sign-in of a session, and then all its child sessions, the oldest first.
    package func family(of session: Session) -> [Session] {
        let signIn = session.signIn
        return [signIn] + state.withLock { $0.children(of: signIn) }
    }

    /// Publishes the effects of a change; it must be called without the lock.
    func publish(_ effects: TableEffects) {
        for (session, left) in effects.warned {
            session.journal.withLock { $0.publish(.expiring(seconds: Int(clamping: left / 1_000_000_000))) }
        }
        for (session, cause) in effects.ended {
            session.journal.withLock { $0.publish(.ended(cause)) }
            session.responses.removeAll()
            onEnd(session, cause)
        }
    }
}

/// An error of the session table; two errors are equal if their codes are equal.
public struct SessionFault: Error, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: String, Sendable, Hashable {
        /// The maximum number of sessions has been reached.
        case full = "the maximum number of sessions has been reached"
        /// The user's sessions were ended during the login; another login may succeed.
        case changedMeanwhile = "the user's sessions were ended during the login"
        /// The session has ended.
        case ended = "the session has ended"
        /// The maximum number of event streams of this session, of its user, or of all sessions has been reached.
        case tooManyStreams = "the maximum number of event streams is open"
        /// The server is stopping.
        case closing = "the server is stopping"
        /// The store could not be written, or no random bytes could be generated.
        case unavailable
    }

    /// The kind of error.
    public let code: Code
    /// The message for the log.
    public let description: String

    static let full = SessionFault(.full)
    static let changedMeanwhile = SessionFault(.changedMeanwhile)
    static let ended = SessionFault(.ended)
    static let tooManyStreams = SessionFault(.tooManyStreams)
    static let closing = SessionFault(.closing)

    init(_ code: Code, _ description: String? = nil) {
        self.code = code
        self.description = description ?? code.rawValue
    }

    /// Runs a computation; if it fails, no session can begin.
    static func mapping<Value>(_ body: () throws(OpenSSLError) -> Value) throws(SessionFault) -> Value {
        try Result(catching: body).mapError { SessionFault(.unavailable, "\($0)") }.get()
    }
}

extension SessionFault: Hashable {
    /// Returns whether the codes are the same.
    public static func == (left: SessionFault, right: SessionFault) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

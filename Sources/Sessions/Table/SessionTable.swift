// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
public import RealmKit
internal import Synchronization

/// The sessions of a server.
///
/// - A session is found by its token, of which only the SHA-256 is kept, in memory and in the store.
/// - It ends when it has not been used for a time, and after another time whatever happens. Both are measured by a clock that
///   nobody can set. One whose time is over is not found, whether or not anybody has noticed yet.
/// - An end takes effect here first. What the store cannot forget at once it is asked to forget every second.
/// - A user has no more sessions than ``SessionSettings/perUser``; one more ends the one that was used least recently.
///
/// Sources: ASVS 7.2 to 7.4, and CVE-2024-21492 for what comes of sessions that outlive their end. It may be used from any
/// thread. It is made once and outlives configurations.
public final class SessionTable: Sendable {
    let clocks: SessionClocks
    let store: (any SessionStore)?
    let state: Mutex<TableState>
    let streams = Mutex(OpenStreams())
    private let onEnd: @Sendable (Session, SessionEnd) -> Void

    /// A table without sessions; see ``restore(_:)``.
    ///
    /// - Parameters:
    ///   - settings: How long sessions live and how many there may be.
    ///   - store: Where sessions survive a restart; nil if they do not.
    ///   - clock: Measures how long they live.
    ///   - wall: The time of day, for people and for the store; it may jump.
    ///   - onEnd: Called once for each session that ends, when it is found no more. It must not wait.
    public init(
        _ settings: SessionSettings,
        store: (any SessionStore)? = nil,
        clock: any LoginClock,
        wall: WallClock,
        onEnd: @escaping @Sendable (Session, SessionEnd) -> Void
    ) {
        clocks = SessionClocks(clock: clock, wall: wall)
        self.store = store
        self.onEnd = onEnd
        state = Mutex(TableState(settings, isStored: store != nil))
    }

    /// How long sessions live and how many there may be.
    public var settings: SessionSettings { state.withLock { $0.settings } }

    /// Goes by other settings from now on.
    ///
    /// Sessions that there are keep their ends until they are used or refreshed, and their last one for good. There may be
    /// more than the new bounds allow until others have ended.
    ///
    /// - Parameter settings: The settings.
    public func use(_ settings: SessionSettings) {
        state.withLock { state in
            state.settings = settings
            state.limits = SessionLimits(settings)
            state.planAll(clocks.now)
        }
    }

    /// How many sessions there are, counting those whose end nobody has noticed in the last second.
    public var count: Int { state.withLock { $0.count } }

    // MARK: Finding

    /// The session of a token, as every request asks for it.
    ///
    /// It costs one digest and a short lock, waits for nothing and allocates nothing.
    ///
    /// - Parameters:
    ///   - token: The token that was presented.
    ///   - isActivity: Whether this is a use of the session, which keeps it from ending idle: polling and event streams
    ///     are none.
    /// - Returns: The session; nil if there is none, or its time is over.
    public func session(_ token: OpaqueToken, isActivity: Bool) -> Session? {
        let digest: Digest
        do throws(OpenSSLError) {
            digest = try token.digest()
        } catch {
            // Nobody is let in by what cannot be compared.
            return nil
        }
        let now = clocks.now
        var isExtended = false
        let session = state.withLock { state -> Session? in
            guard let session = state.byToken[digest], session.isLive(now) else { return nil }
            if isActivity { isExtended = state.touch(session, now) }
            return session
        }
        if isExtended, let session { tellExtended(session) }
        return session
    }

    /// The session of that name.
    ///
    /// - Parameter id: What the session is called by.
    /// - Returns: The session; nil if there is none, or its time is over.
    public func session(id: SessionID) -> Session? {
        let now = clocks.now
        return state.withLock { state in
            state.entries[id].flatMap { $0.session.isLive(now) ? $0.session : nil }
        }
    }

    /// A user's sessions.
    ///
    /// - Parameter user: The user; the groups do not matter.
    /// - Returns: The sessions, the oldest first.
    public func sessions(of user: SignedInUser) -> [Session] {
        let now = clocks.now
        return state.withLock { $0.sessions(of: SessionOwner(user)) }
            .filter { $0.isLive(now) }
            .sorted { $0.created < $1.created }
    }

    /// All sessions, in no order.
    public var sessions: [Session] {
        let now = clocks.now
        return state.withLock { $0.entries.values.map(\.session) }.filter { $0.isLive(now) }
    }

    // MARK: Using

    /// Takes note that a session is used; its last end stays where it is.
    ///
    /// - Parameter session: The session; nothing happens to one that is over.
    public func refresh(_ session: Session) {
        let now = clocks.now
        let isExtended = state.withLock { state in
            session.isLive(now) && state.entries[session.id] != nil && state.touch(session, now)
        }
        if isExtended { tellExtended(session) }
    }

    private func tellExtended(_ session: Session) {
        session.journal.withLock { $0.publish(.extended(idleExpiry: session.idleExpiry)) }
    }

    /// Tells what has come of a change; to be called without the lock.
    func tell(_ turn: Turn) {
        for (session, left) in turn.warned {
            session.journal.withLock { $0.publish(.expiring(seconds: Int(clamping: left / 1_000_000_000))) }
        }
        for (session, cause) in turn.ended {
            session.journal.withLock { $0.publish(.ended(cause)) }
            session.forgetCached()
            onEnd(session, cause)
        }
    }
}

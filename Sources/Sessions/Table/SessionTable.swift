// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
public import RealmKit
internal import Synchronization

/// The sessions of a server.
///
/// - A session is found by its token. Only the SHA-256 of the token is kept, in memory and in the store.
/// - A session belongs to the host that its cookie was set for; its token is not accepted at another host.
/// - A session ends when it has not been used for a time, and after a longer time in any case. Both are measured by a
///   monotonic clock. An expired session is not found, even if it has not been removed yet.
/// - An end takes effect in memory first. If the store cannot remove the session at once, its end is recorded elsewhere
///   if possible, and the removal is repeated every second.
/// - A user has no more sessions than ``SessionSettings/perUser``; one more ends the one that was used least recently.
///
/// Sources: ASVS 7.2 to 7.4; CVE-2024-21492 for the consequences of sessions that outlive their end. The table may be used
/// from any thread. It is made once and outlives configurations.
public final class SessionTable: Sendable {
    let clocks: SessionClocks
    let store: (any SessionStore)?
    let state: Mutex<TableState>
    let removals = Mutex(RemovalQueue())
    let streams = Mutex(OpenStreams())
    private let onWrongHost: @Sendable (Session, SessionHost) -> Void
    private let onEnd: @Sendable (Session, SessionEnd) -> Void

    /// A table without sessions; see ``restore(_:)``.
    ///
    /// - Parameters:
    ///   - settings: The life time of sessions, and how many there may be.
    ///   - store: The store in which sessions survive a restart; nil if they do not.
    ///   - clock: The clock that measures their life time.
    ///   - wall: The time of day, for users and for the store; it may jump.
    ///   - onWrongHost: Called when a session's token is presented at another host than its own, with that host; once for
    ///     each session, as otherwise a client with a token could fill the log. It must not block.
    ///   - onEnd: Called once for each session that ends, when it is no longer found. It must not block.
    public init(
        _ settings: SessionSettings,
        store: (any SessionStore)? = nil,
        clock: any LoginClock,
        wall: WallClock,
        onWrongHost: @escaping @Sendable (Session, SessionHost) -> Void = { _, _ in },
        onEnd: @escaping @Sendable (Session, SessionEnd) -> Void
    ) {
        clocks = SessionClocks(clock: clock, wall: wall)
        self.store = store
        self.onWrongHost = onWrongHost
        self.onEnd = onEnd
        state = Mutex(TableState(settings, isStored: store != nil))
    }

    /// The life time of sessions, and how many there may be.
    public var settings: SessionSettings { state.withLock { $0.settings } }

    /// Replaces the settings.
    ///
    /// Existing sessions keep their idle end until they are used or refreshed, and their absolute end for good. There may
    /// be more than the new bounds allow until some have ended.
    ///
    /// - Parameter settings: The settings.
    public func use(_ settings: SessionSettings) {
        state.withLock { state in
            state.settings = settings
            state.limits = SessionLimits(settings)
            state.scheduleAll(at: clocks.now)
        }
    }

    /// The number of sessions, including those that have expired within the last second.
    public var count: Int { state.withLock { $0.count } }

    // MARK: Finding

    /// Returns the session of a token, for every request.
    ///
    /// It costs one digest and a short lock, never blocks and allocates nothing.
    ///
    /// - Parameters:
    ///   - token: The token that was presented.
    ///   - host: The host it was presented at.
    ///   - isActivity: True if the request is a use of the session, which postpones its idle end. Polling and event
    ///     streams are not.
    /// - Returns: The session; nil if there is none, it has expired, or it belongs to another host. Nothing changes then.
    public func session(_ token: OpaqueToken, at host: SessionHost, isActivity: Bool) -> Session? {
        let digest: Digest
        do throws(OpenSSLError) {
            digest = try token.digest()
        } catch {
            // A token whose digest cannot be computed is not accepted.
            return nil
        }
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
        if let foreign, foreign.noteWrongHost() { onWrongHost(foreign, host) }
        return session
    }

    /// Returns the session with an id.
    ///
    /// - Parameter id: The id.
    /// - Returns: The session; nil if there is none, or it has expired.
    public func session(id: SessionID) -> Session? {
        let now = clocks.now
        return state.withLock { state in
            state.entries[id].flatMap { $0.session.isLive(now) ? $0.session : nil }
        }
    }

    /// Returns a user's sessions.
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

    /// Postpones a session's idle end, as a use of it does; its absolute end stays.
    ///
    /// - Parameter session: The session; an ended one is ignored.
    public func refresh(_ session: Session) {
        let now = clocks.now
        let isExtended = state.withLock { state in
            session.isLive(now) && state.entries[session.id] != nil && state.touch(session, at: now)
        }
        if isExtended { publishExtension(of: session) }
    }

    private func publishExtension(of session: Session) {
        session.journal.withLock { $0.publish(.extended(idleExpiry: session.idleExpiry)) }
    }

    /// Publishes the effects of a change; to be called without the lock.
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

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
public import RealmKit
internal import Synchronization

extension SessionTable {
    /// A mark to begin a session with, to be taken before the login that leads to it.
    ///
    /// - Returns: The mark.
    public func mark() -> SessionMark { state.withLock { $0.endings.mark } }

    /// Begins a session; it is in the store, if there is one, when this returns.
    ///
    /// - Parameters:
    ///   - identity: Who has signed in.
    ///   - client: Whence.
    ///   - stamp: What decides about the user, as the realm said when it had not been looked at longer ago than the login
    ///     began; nil if the realm cannot say.
    ///   - mark: What ``mark()`` gave before the login.
    ///   - replaced: The session that the same client had; it ends when the new one begins.
    /// - Returns: The session, and the token by which it is found.
    /// - Throws: ``SessionFault``: `full`; `changedMeanwhile` if the user's sessions were ended since the mark;
    ///   `unavailable` if it could not be stored. There is no session then, and the one to be replaced goes on.
    public func begin(
        _ identity: AuthenticatedIdentity,
        _ client: SessionClient,
        stamp: UserStamp?,
        since mark: SessionMark,
        replacing replaced: Session?
    ) async throws(SessionFault) -> (session: Session, token: OpaqueToken) {
        try await begin(SignedInUser(identity), identity, client, stamp: stamp, since: mark, replacing: replaced)
    }

    func begin(
        _ user: SignedInUser,
        _ identity: AuthenticatedIdentity? = nil,
        _ client: SessionClient,
        stamp: UserStamp?,
        since mark: SessionMark,
        replacing replaced: Session?
    ) async throws(SessionFault) -> (session: Session, token: OpaqueToken) {
        try reserve(user, replacing: replaced)
        defer { state.withLock { $0.reserved -= 1 } }
        let new: NewSession
        do throws(OpenSSLError) {
            new = try make(user, identity, client, stamp)
        } catch {
            throw SessionFault(.unavailable, "\(error)")
        }
        if let store {
            do throws(SessionStoreError) {
                try await store.saveSession(new.record)
            } catch {
                // It may have been stored all the same.
                state.withLock { $0.behind.remove(new.session.id) }
                throw SessionFault(.unavailable, error.message)
            }
        }
        let turn: Turn
        do throws(SessionFault) {
            turn = try enter(new, since: mark, replacing: replaced)
        } catch {
            state.withLock { $0.behind.remove(new.session.id) }
            await forgetStored([new.session.id])
            throw error
        }
        tell(turn)
        await forgetStored(turn.ended.map(\.session.id))
        return (new.session, new.token)
    }

    /// Gives a session a new token: the one it had stands for nothing when this returns.
    ///
    /// - Parameter session: The session.
    /// - Returns: The new token.
    /// - Throws: ``SessionFault``: `ended`, `busy` while another call does the same, `unavailable`. The session keeps its
    ///   token then.
    public func renew(_ session: Session) async throws(SessionFault) -> OpaqueToken {
        let now = clocks.now
        try state.withLock { state throws(SessionFault) in
            guard session.isLive(now), let entry = state.entries[session.id] else { throw .ended }
            // Two at once could reach the store in another order than the table: a dead token would live again.
            guard !entry.isRenewing else { throw .busy }
            state.setRenewing(session, true)
        }
        defer { state.withLock { $0.setRenewing(session, false) } }
        let token: OpaqueToken
        let digest: Digest
        do throws(OpenSSLError) {
            token = try OpaqueToken()
            digest = try token.digest()
        } catch {
            throw SessionFault(.unavailable, "\(error)")
        }
        if let store {
            do throws(SessionStoreError) {
                try await store.renewSession(session.id, token: digest)
            } catch {
                throw SessionFault(.unavailable, error.message)
            }
        }
        guard state.withLock({ $0.renew(session, digest) }) else { throw .ended }
        session.forgetCached()
        return token
    }

    // MARK: Steps

    private struct NewSession {
        let session: Session
        let token: OpaqueToken
        let record: SessionRecord
    }

    /// Sees to it that the store is not filled with what cannot begin.
    private func reserve(_ user: SignedInUser, replacing replaced: Session?) throws(SessionFault) {
        let now = clocks.now
        let (turn, hasRoom) = state.withLock { state in
            var turn = Turn()
            if state.count + state.reserved >= state.settings.total { turn = state.sweep(now) }
            // One more does not come of it where another goes for it.
            let takesPlace =
                replaced.map { state.entries[$0.id] != nil } ?? false
                || state.sessions(of: SessionOwner(user)).count >= state.settings.perUser
            let hasRoom = state.count + state.reserved < state.settings.total || takesPlace
            if hasRoom { state.reserved += 1 }
            return (turn, hasRoom)
        }
        tell(turn)
        guard hasRoom else { throw .full }
    }

    private func make(
        _ user: SignedInUser,
        _ identity: AuthenticatedIdentity?,
        _ client: SessionClient,
        _ stamp: UserStamp?
    ) throws(OpenSSLError) -> NewSession {
        let token = try OpaqueToken()
        let digest = try token.digest()
        let limits = state.withLock { $0.limits }
        let now = clocks.now
        let created = clocks.wall.seconds
        // An account that ends takes its sessions along.
        let left = stamp?.expiry.map { SessionLimits.nanoseconds(from: created, to: $0) } ?? .max
        let times = SessionTimes(
            seen: now,
            idleEnd: limits.idleEnd(after: now),
            absoluteEnd: SessionLimits.sum(now, min(limits.absolute, left)),
            warning: limits.warning
        )
        let salted: SaltedStamp? = if let stamp { try SaltedStamp(stamp) } else { nil }
        let id = try SessionID()
        let session = Session(id, user, client, identity, created: created, stamp: salted, times, clocks)
        return NewSession(session: session, token: token, record: session.record(token: digest))
    }

    /// Puts a session into the table, and takes out those that have to go for it, or none if it cannot be put in.
    private func enter(
        _ new: NewSession,
        since mark: SessionMark,
        replacing replaced: Session?
    ) throws(SessionFault) -> Turn {
        let now = clocks.now
        return try state.withLock { state throws(SessionFault) in
            guard !state.endings.mean(new.session, since: mark) else { throw .changedMeanwhile }
            var turn = Turn()
            let owner = SessionOwner(new.session.user)
            let (live, over) = state.sessions(of: owner).filter { $0 !== replaced }.divided { $0.isLive(now) }
            let byAge = live.sorted { $0.times.seen < $1.times.seen }
            let tooMany = byAge.prefix(max(0, live.count + 1 - max(1, state.settings.perUser)))
            let going = tooMany.count + over.count + (replaced.map { state.entries[$0.id] != nil } == true ? 1 : 0)
            guard state.count - going < state.settings.total else { throw .full }
            for session in over { turn.end(session, session.times.cause, &state) }
            if let replaced { turn.end(replaced, .replaced, &state) }
            for session in tooMany { turn.end(session, .limit, &state) }
            state.insert(new.session, new.record.token, now)
            return turn
        }
    }
}

extension Array {
    /// Those that meet a condition, and the others.
    fileprivate func divided(_ isIn: (Element) -> Bool) -> (yes: [Element], no: [Element]) {
        (filter(isIn), filter { !isIn($0) })
    }
}

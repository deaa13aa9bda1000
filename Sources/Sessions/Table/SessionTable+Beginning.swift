// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
public import RealmKit
internal import Synchronization

extension SessionTable {
    /// Returns the epoch that a login needs to begin a session; it must be read before the login.
    ///
    /// - Returns: The epoch.
    public func revocationEpoch() -> RevocationEpoch { state.withLock { $0.revocations.epoch } }

    /// Begins a session; when this returns, the session is in the store, if there is one.
    ///
    /// - Parameters:
    ///   - identity: The user who has signed in.
    ///   - host: The host at which the session is valid.
    ///   - client: The client that signs in.
    ///   - stamp: The user's security stamp, read no earlier than the login began; nil if the realm has none.
    ///   - epoch: The ``revocationEpoch()`` from before the login.
    ///   - replaced: The session that the same client had; it ends when the new one begins.
    /// - Returns: The session, and the token by which it is found.
    /// - Throws: ``SessionFault``: `full`; `changedMeanwhile` if the user's sessions were ended since the epoch;
    ///   `unavailable` if the session could not be stored, or the sessions that it replaces could not be removed,
    ///   within two seconds. No session has begun then. The replaced session continues, except in the last case.
    public func begin(
        _ identity: AuthenticatedIdentity,
        at host: SessionHost,
        from client: SessionClient,
        stamp: SecurityStamp?,
        since epoch: RevocationEpoch,
        replacing replaced: Session?
    ) async throws(SessionFault) -> (session: Session, token: OpaqueToken) {
        // The session keeps the identity, so that the modules of its login can be called to log out when it ends.
        identity.forgetNotes()
        return try await begin(
            SignedInUser(identity),
            identity: identity,
            at: host,
            from: client,
            stamp: stamp,
            since: epoch,
            replacing: replaced
        )
    }

    func begin(
        _ user: SignedInUser,
        identity: AuthenticatedIdentity? = nil,
        at host: SessionHost,
        from client: SessionClient,
        stamp: SecurityStamp?,
        since epoch: RevocationEpoch,
        replacing replaced: Session?
    ) async throws(SessionFault) -> (session: Session, token: OpaqueToken) {
        try reserve(user, replacing: replaced)
        defer { state.withLock { $0.reserved -= 1 } }
        let new: NewSession
        do throws(OpenSSLError) {
            new = try make(user, identity: identity, at: host, from: client, stamp: stamp)
        } catch {
            throw SessionFault(.unavailable, "\(error)")
        }
        try await save(new)
        let effects: TableEffects
        do throws(SessionFault) {
            effects = try enter(new, since: epoch, replacing: replaced)
        } catch {
            state.withLock { $0.writes.remove(new.session.id) }
            // Its token was never given out: a late removal does no harm.
            do throws(SessionFault) { try await removeStored([new.session.id]) } catch {}
            throw error
        }
        publish(effects)
        do throws(SessionFault) {
            try await removeStored(effects.ended.map(\.session.id))
        } catch {
            // The sessions that it replaces may be valid again after a restart, so it does not begin.
            state.withLock { _ = $0.remove(new.session, cause: .replaced) }
            throw error
        }
        return (new.session, new.token)
    }

    // MARK: Steps

    private struct NewSession {
        let session: Session
        let token: OpaqueToken
        let record: SessionRecord
    }

    /// Reserves a place, so that the store is not filled with sessions that cannot begin.
    private func reserve(_ user: SignedInUser, replacing replaced: Session?) throws(SessionFault) {
        let now = clocks.now
        let (effects, hasRoom) = state.withLock { state in
            var effects = TableEffects()
            if state.count + state.reserved >= state.settings.total { effects = state.sweep(at: now) }
            // A session that replaces another does not increase the total.
            let takesPlace =
                replaced.map { state.entries[$0.id] != nil } ?? false
                || state.sessions(of: SessionOwner(user)).count >= state.settings.perUser
            let hasRoom = state.count + state.reserved < state.settings.total || takesPlace
            if hasRoom { state.reserved += 1 }
            return (effects, hasRoom)
        }
        publish(effects)
        guard hasRoom else { throw .full }
    }

    private func make(
        _ user: SignedInUser,
        identity: AuthenticatedIdentity?,
        at host: SessionHost,
        from client: SessionClient,
        stamp: SecurityStamp?
    ) throws(OpenSSLError) -> NewSession {
        let token = try OpaqueToken()
        let digest = try token.digest()
        let limits = state.withLock { $0.limits }
        let now = clocks.now
        let created = clocks.wall.seconds
        // A session ends no later than the account of its user.
        let left = stamp?.expiry.map { SessionLimits.nanoseconds(from: created, to: $0) } ?? .max
        let times = SessionTimes(
            seen: now,
            idleEnd: limits.idleEnd(after: now),
            absoluteEnd: SessionLimits.sum(now, min(limits.absolute, left)),
            warning: limits.warning
        )
        let salted: SaltedStamp? = if let stamp { try SaltedStamp(stamp) } else { nil }
        let id = try SessionID()
        let session = Session(
            id,
            of: user,
            at: host,
            from: client,
            identity: identity,
            created: created,
            stamp: salted,
            times: times,
            clocks: clocks
        )
        return NewSession(session: session, token: token, record: session.record(token: digest))
    }

    /// Stores a session, or gives up after ``timeLimit``; if it is stored later than that, it is removed again.
    private func save(_ new: NewSession) async throws(SessionFault) {
        guard let store else { return }
        let saving = Task { () -> SessionStoreError? in
            do throws(SessionStoreError) { try await store.saveSession(new.record) } catch { return error }
            return nil
        }
        guard let saved = await TimeLimitedWait.value(of: saving, within: Self.timeLimit, clock: clocks.clock) else {
            // A write that has not begun yet is not needed any more.
            saving.cancel()
            Task { [self] in
                _ = await saving.value
                state.withLock { $0.writes.remove(new.session.id) }
            }
            throw SessionFault(.unavailable, "a session could not be stored in time")
        }
        guard let fault = saved else { return }
        // It may have been stored nevertheless.
        state.withLock { $0.writes.remove(new.session.id) }
        throw SessionFault(.unavailable, fault.message)
    }

    /// Puts a session into the table and ends the sessions that it replaces; after an error, nothing has changed.
    private func enter(
        _ new: NewSession,
        since epoch: RevocationEpoch,
        replacing replaced: Session?
    ) throws(SessionFault) -> TableEffects {
        let now = clocks.now
        return try state.withLock { state throws(SessionFault) in
            guard !state.revocations.hasRevoked(new.session, since: epoch) else { throw .changedMeanwhile }
            var effects = TableEffects()
            let owner = SessionOwner(new.session.user)
            let (live, over) = state.sessions(of: owner).filter { $0 !== replaced }.divided { $0.isLive(now) }
            let byAge = live.sorted { $0.times.seen < $1.times.seen }
            let tooMany = byAge.prefix(max(0, live.count + 1 - max(1, state.settings.perUser)))
            let going = tooMany.count + over.count + (replaced.map { state.entries[$0.id] != nil } == true ? 1 : 0)
            guard state.count - going < state.settings.total else { throw .full }
            for session in over { effects.end(session, cause: session.times.cause, in: &state) }
            if let replaced { effects.end(replaced, cause: .replaced, in: &state) }
            for session in tooMany { effects.end(session, cause: .limit, in: &state) }
            state.insert(new.session, token: new.record.token, at: now)
            return effects
        }
    }
}

extension Array {
    /// Divides the elements into those that meet a condition and the others.
    fileprivate func divided(_ isIn: (Element) -> Bool) -> (yes: [Element], no: [Element]) {
        (filter(isIn), filter { !isIn($0) })
    }
}

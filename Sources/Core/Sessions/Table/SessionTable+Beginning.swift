// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
public import RealmKit
internal import Synchronization

extension SessionTable {
    /// Returns the current revocation epoch, which a login must read before it begins.
    public func revocationEpoch() -> RevocationEpoch { state.withLock { $0.revocations.epoch } }

    /// Begins a session.
    ///
    /// If there is a store, the session is stored when this function returns.
    ///
    /// - Parameters:
    ///   - identity: The user who has signed in.
    ///   - host: The host at which the session is valid.
    ///   - client: The client that signs in.
    ///   - stamp: The user's security stamp, read after the login has begun; nil if the realm has no stamps.
    ///   - end: The latest end of the session, in seconds since 1970; nil if only the settings limit the session.
    ///   - epoch: The ``revocationEpoch()`` that was read before the login.
    ///   - replaced: The earlier session of the same client. It ends when the new session begins.
    /// - Returns: The session, and the token by which it is found.
    /// - Throws: ``SessionFault`` if no session has begun. The code is `full` if there are too many sessions, and
    ///   `changedMeanwhile` if the user's sessions were ended since the epoch. The code is `unavailable` if the session
    ///   could not be stored within two seconds, or if the replaced sessions could not be removed from the store. If
    ///   the removal has failed, the replaced sessions have ended; after all other errors they continue.
    public func begin(
        _ identity: AuthenticatedIdentity,
        at host: SessionHost,
        from client: SessionClient,
        stamp: SecurityStamp?,
        until end: Int? = nil,
        since epoch: RevocationEpoch,
        replacing replaced: Session?
    ) async throws(SessionFault) -> (session: Session, token: OpaqueToken) {
        // The session keeps the identity, because its end calls the logout of the modules of the login.
        identity.forgetNotes()
        return try await begin(
            SignedInUser(identity),
            identity: identity,
            at: host,
            from: client,
            stamp: stamp,
            until: end,
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
        until end: Int? = nil,
        since epoch: RevocationEpoch,
        replacing replaced: Session?
    ) async throws(SessionFault) -> (session: Session, token: OpaqueToken) {
        // A session that replaces another does not increase the total.
        try reserve { state in
            replaced.map { state.entries[$0.id] != nil } ?? false
                || state.sessions(of: SessionOwner(user)).count >= state.settings.perUser
        }
        defer { state.withLock { $0.reserved -= 1 } }
        let new = try Result { () throws(OpenSSLError) in
            try make(user, identity: identity, at: host, from: client, stamp: stamp, until: end)
        }.mapError { SessionFault(.unavailable, "\($0)") }.get()
        try await save(new)
        let effects: TableEffects
        do throws(SessionFault) {
            effects = try enter(new, since: epoch, replacing: replaced)
        } catch {
            state.withLock { $0.writes.remove(new.session.id) }
            // No client has the token of this session, so its removal from the store may be delayed.
            do throws(SessionFault) { try await removeStored([new.session.id]) } catch {}
            throw error
        }
        publish(effects)
        do throws(SessionFault) {
            try await removeStored(effects.ended.map(\.session.id))
        } catch {
            // The replaced sessions may be valid again after a restart: the caller must not report success.
            state.withLock { _ = $0.remove(new.session, cause: .replaced) }
            throw error
        }
        return (new.session, new.token)
    }

    // MARK: Steps

    struct NewSession {
        let session: Session
        let token: OpaqueToken
        let record: SessionRecord
    }

    /// Reserves a place in the table before the session is stored.
    ///
    /// Otherwise sign-ins could fill the store with sessions that cannot begin. `takesPlace` is true for a replacement.
    func reserve(takingPlace takesPlace: (TableState) -> Bool = { _ in false }) throws(SessionFault) {
        let now = clocks.now
        let (effects, hasRoom) = state.withLock { state in
            var effects = TableEffects()
            if state.count + state.reserved >= state.settings.total { effects = state.sweep(at: now) }
            let hasRoom = state.count + state.reserved < state.settings.total || takesPlace(state)
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
        stamp: SecurityStamp?,
        until end: Int?
    ) throws(OpenSSLError) -> NewSession {
        let token = try OpaqueToken()
        let digest = try token.digest()
        let limits = state.withLock { $0.limits }
        let now = clocks.now
        let created = clocks.wall.seconds
        // A session must not continue after the account of its user has expired.
        let last = [stamp?.expiry, end].compactMap(\.self).min()
        let left = last.map { SessionLimits.nanoseconds(from: created, to: $0) } ?? .max
        let times = SessionTimes(
            lastSeen: now,
            idleEnd: limits.idleEnd(after: now),
            absoluteEnd: SessionLimits.saturatingSum(now, min(limits.absolute, left)),
            warningLength: limits.warning
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

    /// Stores a session within ``timeLimit``; a session that is stored later is removed again.
    func save(_ new: NewSession) async throws(SessionFault) {
        guard let store else { return }
        let saving = Task { () -> SessionStoreError? in
            do throws(SessionStoreError) { try await store.saveSession(new.record) } catch { return error }
            return nil
        }
        guard let saved = await TimeLimitedWait.value(of: saving, within: Self.timeLimit, clock: clocks.clock) else {
            // If the write has not begun, it is not needed any more.
            saving.cancel()
            Task { [self] in
                _ = await saving.value
                state.withLock { $0.writes.remove(new.session.id) }
            }
            throw SessionFault(.unavailable, "a new session could not be stored within the time limit")
        }
        guard let fault = saved else { return }
        // The session may have been stored despite the error.
        state.withLock { $0.writes.remove(new.session.id) }
        throw SessionFault(.unavailable, fault.message)
    }

    /// Adds a session to the table and ends those that it replaces; after an error nothing has changed.
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
            let others = state.sessions(of: owner).filter { $0 !== replaced }
            let live = others.filter { $0.isLive(now) }
            let expired = others.filter { !$0.isLive(now) }
            let byAge = live.sorted { $0.times.lastSeen < $1.times.lastSeen }
            let tooMany = byAge.prefix(max(0, live.count + 1 - max(1, state.settings.perUser)))
            let ending = tooMany.count + expired.count + (replaced.map { state.entries[$0.id] != nil } == true ? 1 : 0)
            guard state.count - ending < state.settings.total else { throw .full }
            for session in expired { effects.end(session, cause: session.times.cause, in: &state) }
            if let replaced { effects.end(replaced, cause: .replaced, in: &state) }
            for session in tooMany { effects.end(session, cause: .tooManySessions, in: &state) }
            state.insert(new.session, token: new.record.token, at: now)
            return effects
        }
    }
}

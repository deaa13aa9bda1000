// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
package import RealmKit
internal import Synchronization

extension SessionTable {
    /// Returns the current revocation epoch, which a login must read before it begins.
    package func revocationEpoch() -> RevocationEpoch { state.withLock { $0.revocations.epoch } }

    /// Begins a session of a user who has signed in, which is stored when this function returns, if there is a store.
    ///
    /// The session keeps the identity, because its end calls the logout of the modules. The stamp is read after the login
    /// has begun, and nil if the realm has no stamps; the epoch is read before the login. The session ends at `end`, in
    /// seconds since 1970, at the latest. The earlier session of the same client ends when the new one begins.
    ///
    /// - Throws: ``SessionFault`` if no session has begun: `full`; `changedMeanwhile` if the user's sessions were ended
    ///   since the epoch; `unavailable` if the session could not be stored within two seconds, or if the replaced
    ///   sessions could not be removed from the store. In the last case they have ended; otherwise they continue.
    package func begin(
        _ identity: AuthenticatedIdentity,
        at host: SessionHost,
        from client: SessionClient,
        stamp: SecurityStamp?,
        until end: Int? = nil,
        since epoch: RevocationEpoch,
        replacing replaced: Session?
    ) async throws(SessionFault) -> (session: Session, token: OpaqueToken) {
        identity.forgetNotes()
        let user = SignedInUser(identity)
        // A session that replaces another does not increase the total.
        try reserve { state in
            replaced.map { state.entries[$0.id] != nil } ?? false
                || state.sessions(of: SessionOwner(user)).count >= state.settings.perUser
        }
        defer { state.withLock { $0.reserved -= 1 } }
        let salted = try SessionFault.mapping { () throws(OpenSSLError) in
            try stamp.map { stamp throws(OpenSSLError) in try SaltedStamp(stamp) }
        }
        // A session must not continue after the account of its user has expired.
        let times = times(until: [stamp?.expiry, end].compactMap(\.self).min())
        let new = try make(user, at: host, from: client, identity: identity, stamp: salted, times: times)
        try await save(new.session)
        let effects: TableEffects
        do throws(SessionFault) {
            effects = try enter(new.session, since: epoch, replacing: replaced)
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
        return new
    }

    /// Returns whether the sessions of a user were ended since an epoch, for a login that begins no session.
    package func hasEndedSessions(of user: SignedInUser, since epoch: RevocationEpoch) throws(SessionFault) -> Bool {
        let client = SessionClient(address: nil, userAgent: "")
        let times = times(until: nil)
        let session = try make(user, at: SessionHost(checked: ""), from: client, stamp: nil, times: times).session
        return state.withLock { $0.revocations.hasRevoked(session, since: epoch) }
    }

    // MARK: Child sessions

    /// A further child session ends the oldest, so that one user cannot fill the table with the hosts of a domain.
    static let maximumChildren = 100

    /// Begins a child of the session of a sign-in: a session of the same user at another host, stored as in ``begin``.
    ///
    /// The child has the times of its parent and ends with it. Its beginning is a use of the parent. If the parent
    /// already has a child at the host, that child ends.
    ///
    /// - Throws: ``SessionFault`` if no session has begun: `ended` if the parent has ended, `full`, or `unavailable` if the
    ///   child could not be stored within two seconds.
    package func beginChild(
        of parent: Session,
        at host: SessionHost,
        from client: SessionClient
    ) async throws(SessionFault) -> (session: Session, token: OpaqueToken) {
        guard parent.parent == nil, isLive(parent) else { throw .ended }
        try reserve()
        defer { state.withLock { $0.reserved -= 1 } }
        let new = try make(
            parent.user,
            at: host,
            parent: parent,
            from: client,
            stamp: parent.stamp,
            times: parent.times
        )
        do throws(SessionFault) {
            try await save(new.session)
        } catch {
            // The store refuses a child whose parent it no longer has.
            guard isLive(parent) else { throw .ended }
            throw error
        }
        let (effects, isExtended): (TableEffects, Bool)
        do throws(SessionFault) {
            (effects, isExtended) = try enter(new.session, of: parent)
        } catch {
            state.withLock { $0.writes.remove(new.session.id) }
            throw error
        }
        // The removal of a replaced child from the store may be delayed: only the newest child at a host is restored.
        publish(effects)
        if isExtended { publishExtension(of: parent) }
        return new
    }

    private func isLive(_ parent: Session) -> Bool {
        let now = clocks.now
        return state.withLock { $0.entries[parent.id]?.session === parent && parent.isLive(now) }
    }

    // MARK: Steps

    /// Reserves a place in the table before the session is stored.
    ///
    /// Otherwise sign-ins could fill the store with sessions that cannot begin. `takesPlace` is true for a replacement.
    func reserve(takingPlace takesPlace: (TableState) -> Bool = { _ in false }) throws(SessionFault) {
        if state.withLock({ $0.isFull }) { sweep() }
        let hasRoom = state.withLock { state in
            guard !state.isFull || takesPlace(state) else { return false }
            state.reserved += 1
            return true
        }
        guard hasRoom else { throw .full }
    }

    /// Creates a session with a new id and token, which is not in the table yet.
    private func make(
        _ user: SignedInUser,
        at host: SessionHost,
        parent: Session? = nil,
        from client: SessionClient,
        identity: AuthenticatedIdentity? = nil,
        stamp: SaltedStamp?,
        times: SessionTimes
    ) throws(SessionFault) -> (session: Session, token: OpaqueToken) {
        try SessionFault.mapping { () throws(OpenSSLError) in
            let token = try OpaqueToken()
            let session = Session(
                try SessionID(),
                token: try token.digest(),
                of: user,
                at: host,
                parent: parent,
                from: client,
                identity: identity,
                created: clocks.wall.seconds,
                stamp: stamp,
                times: times,
                clocks: clocks
            )
            return (session, token)
        }
    }

    /// Returns the times of a session that begins now and ends at `end` at the latest, in seconds since 1970.
    private func times(until end: Int?) -> SessionTimes {
        let limits = state.withLock { $0.limits }
        let now = clocks.now
        let left = end.map { SessionLimits.nanoseconds(from: clocks.wall.seconds, to: $0) } ?? .max
        return SessionTimes(
            lastSeen: now,
            idleEnd: limits.idleEnd(after: now),
            absoluteEnd: SessionLimits.saturatingSum(now, min(limits.absolute, left)),
            warningLength: limits.warning
        )
    }

    /// Stores a session within ``timeLimit``; a session that is stored later is removed again.
    private func save(_ session: Session) async throws(SessionFault) {
        guard let store else { return }
        let record = session.record
        let saving = Task.immediate { () -> SessionStoreError? in
            do throws(SessionStoreError) { try await store.saveSession(record) } catch { return error }
            return nil
        }
        guard let saved = await TimeLimitedWait.value(of: saving, within: Self.timeLimit, clock: clocks.clock) else {
            // If the write has not begun, it is not needed any more.
            saving.cancel()
            Task { [self] in
                _ = await saving.value
                state.withLock { $0.writes.remove(record.id) }
            }
            throw SessionFault(.unavailable, "a new session could not be stored within the time limit")
        }
        guard let fault = saved else { return }
        // The session may have been stored despite the error.
        state.withLock { $0.writes.remove(record.id) }
        throw SessionFault(.unavailable, fault.message)
    }

    /// Adds a session to the table and ends those that it replaces; after an error nothing has changed.
    private func enter(
        _ new: Session,
        since epoch: RevocationEpoch,
        replacing replaced: Session?
    ) throws(SessionFault) -> TableEffects {
        let now = clocks.now
        return try state.withLock { state throws(SessionFault) in
            guard !state.revocations.hasRevoked(new, since: epoch) else { throw .changedMeanwhile }
            var effects = TableEffects()
            let owner = SessionOwner(new.user)
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
            state.insert(new, at: now)
            return effects
        }
    }

    /// Adds a child to the table and ends those that it replaces; after an error nothing has changed.
    ///
    /// `isExtended` is true if the clients were warned and the use of the parent has postponed the end.
    private func enter(
        _ new: Session,
        of parent: Session
    ) throws(SessionFault) -> (effects: TableEffects, isExtended: Bool) {
        let now = clocks.now
        return try state.withLock { state throws(SessionFault) in
            // Every change of the user has ended the parent.
            guard state.entries[parent.id]?.session === parent, parent.isLive(now) else { throw .ended }
            var effects = TableEffects()
            let children = state.children(of: parent)
            for child in children where child.host == new.host {
                effects.end(child, cause: .replaced, in: &state)
            }
            if state.children(of: parent).count >= Self.maximumChildren, let oldest = state.children(of: parent).first {
                effects.end(oldest, cause: .tooManySessions, in: &state)
            }
            state.insert(new, at: now)
            return (effects, state.touch(parent, at: now))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
internal import RealmKit
internal import Synchronization

extension SessionTable {
    /// A further child session ends the oldest, so that one user cannot fill the table with the hosts of a domain.
    static let maximumChildren = 100

    /// Begins a child of the session of a sign-in: a session of the same user at another host.
    ///
    /// The child has the times of its parent and ends with it. Its beginning is a use of the parent. If the parent
    /// already has a child at the host, that child ends. If there is a store, the child is stored when this function
    /// returns.
    ///
    /// - Returns: The child, and the token by which it is found.
    /// - Throws: ``SessionFault`` if no session has begun. The code is `ended` if the parent has ended, `full` if there
    ///   are too many sessions, and `unavailable` if the child could not be stored within two seconds.
    public func beginChild(
        of parent: Session,
        at host: SessionHost,
        from client: SessionClient
    ) async throws(SessionFault) -> (session: Session, token: OpaqueToken) {
        guard parent.parent == nil, isLive(parent) else { throw .ended }
        try reserve()
        defer { state.withLock { $0.reserved -= 1 } }
        let new = try Result { () throws(OpenSSLError) in try makeChild(of: parent, at: host, from: client) }
            .mapError { SessionFault(.unavailable, "\($0)") }.get()
        do throws(SessionFault) {
            try await save(new)
        } catch {
            // The store refuses a child whose parent it no longer has.
            guard isLive(parent) else { throw .ended }
            throw error
        }
        let (effects, isExtended): (TableEffects, Bool)
        do throws(SessionFault) {
            (effects, isExtended) = try enter(new, of: parent)
        } catch {
            state.withLock { $0.writes.remove(new.session.id) }
            throw error
        }
        // The removal of a replaced child from the store may be delayed: only the newest child at a host is restored.
        publish(effects)
        if isExtended { publishExtension(of: parent) }
        return (new.session, new.token)
    }

    private func isLive(_ parent: Session) -> Bool {
        let now = clocks.now
        return state.withLock { $0.entries[parent.id]?.session === parent && parent.isLive(now) }
    }

    private func makeChild(
        of parent: Session,
        at host: SessionHost,
        from client: SessionClient
    ) throws(OpenSSLError) -> NewSession {
        let token = try OpaqueToken()
        let session = Session(
            try SessionID(),
            of: parent.user,
            at: host,
            parent: parent,
            from: client,
            identity: nil,
            created: clocks.wall.seconds,
            stamp: parent.stamp,
            times: parent.times,
            clocks: clocks
        )
        return NewSession(session: session, token: token, record: session.record(token: try token.digest()))
    }

    /// Adds a child to the table and ends those that it replaces; after an error nothing has changed.
    ///
    /// `isExtended` is true if the clients were warned and the use of the parent has postponed the end.
    private func enter(
        _ new: NewSession,
        of parent: Session
    ) throws(SessionFault) -> (effects: TableEffects, isExtended: Bool) {
        let now = clocks.now
        return try state.withLock { state throws(SessionFault) in
            // Every change of the user has ended the parent.
            guard state.entries[parent.id]?.session === parent, parent.isLive(now) else { throw .ended }
            var effects = TableEffects()
            let children = state.children(of: parent)
            for child in children where child.host == new.session.host {
                effects.end(child, cause: .replaced, in: &state)
            }
            if state.children(of: parent).count >= Self.maximumChildren, let oldest = state.children(of: parent).first {
                effects.end(oldest, cause: .tooManySessions, in: &state)
            }
            state.insert(new.session, token: new.record.token, at: now)
            return (effects, state.touch(parent, at: now))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

package import RealmKit
internal import Synchronization

/// The current status of a session's user.
package enum UserStatus: Sendable, Hashable {
    /// The realm no longer exists, or a different realm now has its name.
    case realmGone
    case user(UserState)
}

extension SessionTable {
    /// Restores the sessions of the store.
    ///
    /// It must be called once, before the first request. A session ends if it has expired, or if its user or realm has
    /// changed. A session with a stamp also ends if the present stamp of the user cannot be read. `status` is called
    /// once for each user.
    ///
    /// - Throws: ``SessionStoreError`` when the store cannot be read. In this case no session is restored.
    package func restore(_ status: (SignedInUser) async -> UserStatus) async throws(SessionStoreError) {
        guard let store else { return }
        let epoch = revocationEpoch()
        let snapshot = try await store.loadSessions()
        state.withLock { state in
            state.writes.lastCommand = snapshot.lastCommand
            for id in snapshot.ended { state.writes.remove(id) }
        }
        var statuses = StatusCache()
        // The most recently used sessions are restored first. If there are too many sessions, the others are ended.
        let records = snapshot.sessions.sorted { $0.lastSeen > $1.lastSeen }
        for record in records where record.parent == nil {
            let known = await statuses.status(of: record.user, by: status)
            publish(restore(record, endedBy: SaltedStamp.end(for: known, stamp: record.stamp), since: epoch))
        }
        restoreChildren(records.filter { $0.parent != nil })
    }

    /// Restores the newest child session of each parent at each host, and removes the others from the store.
    ///
    /// A process may end before a replaced child is removed. If two children began in the same second, it is unknown
    /// which one was replaced, so none is restored; the browser gets a new one without a sign-in.
    private func restoreChildren(_ records: [SessionRecord]) {
        for group in Dictionary(grouping: records, by: { ChildPlace(parent: $0.parent, host: $0.host) }).values {
            let newest = group.map(\.created).max() ?? 0
            let candidates = group.filter { $0.created == newest }
            for record in group where candidates.count > 1 || record.created < newest {
                state.withLock { $0.writes.remove(record.id) }
            }
            if candidates.count == 1 { restoreChild(candidates[0]) }
        }
    }

    private struct ChildPlace: Hashable {
        let parent: SessionID?
        let host: SessionHost
    }

    /// Restores a child session if its parent was restored; otherwise removes it from the store.
    private func restoreChild(_ record: SessionRecord) {
        guard let id = record.parent else { return }
        state.withLock { state in
            guard let parent = state.entries[id]?.session, parent.parent == nil,
                state.count < state.settings.total, state.children(of: parent).count < Self.maximumChildren
            else {
                state.writes.remove(record.id)
                return
            }
            let session = Session(record, parent: parent, times: parent.times, clocks: clocks)
            state.insert(session, at: clocks.now)
        }
    }

    /// Ends the sessions, of one realm or of all, whose user or realm has changed, as after a reload of the
    /// configuration.
    ///
    /// A session continues if its user cannot be checked now. `status` is called once for each user.
    package func recheck(of realm: String? = nil, status: (SignedInUser) async -> UserStatus) async {
        var statuses = StatusCache()
        for session in sessions where realm.map({ $0.utf8.elementsEqual(session.user.realm.utf8) }) ?? true {
            let known = await statuses.status(of: session.user, by: status)
            guard known != .user(.unknown), let cause = SaltedStamp.end(for: known, stamp: session.stamp) else {
                continue
            }
            publish(state.withLock { $0.end([session], cause: cause) })
        }
    }

    private func restore(
        _ record: SessionRecord,
        endedBy end: SessionEndCause?,
        since epoch: RevocationEpoch
    ) -> TableEffects {
        let (now, wall) = (clocks.now, clocks.wall.seconds)
        return state.withLock { state in
            let times = record.times(at: now, wall: wall, limits: state.limits)
            let session = Session(record, times: times ?? .expired(at: now), clocks: clocks)
            let cause: SessionEndCause? =
                if times == nil {
                    record.idleExpiry < record.absoluteExpiry ? .idle : .absolute
                } else if let end {
                    end
                } else if state.revocations.hasRevoked(session, since: epoch) {
                    .userChanged
                } else {
                    state.hasRoom(for: session) ? nil : .tooManySessions
                }
            state.insert(session, at: now)
            // Corrected times are stored. Otherwise the session would be as good as used at every restart.
            let isCorrected =
                record.lastSeen > wall
                || SessionLimits.nanoseconds(from: wall, to: record.idleExpiry) > state.limits.idle
            if isCorrected { state.writes.touch(session) }
            return cause.map { state.end([session], cause: $0) } ?? TableEffects()
        }
    }
}

private struct StatusCache {
    private var known: [SessionOwner: UserStatus] = [:]

    mutating func status(of user: SignedInUser, by lookUp: (SignedInUser) async -> UserStatus) async -> UserStatus {
        let owner = SessionOwner(user)
        if let status = known[owner] { return status }
        let status = await lookUp(user)
        known[owner] = status
        return status
    }
}

extension TableState {
    fileprivate func hasRoom(for session: Session) -> Bool {
        count < settings.total && sessions(of: SessionOwner(session.user)).count < max(1, settings.perUser)
    }
}

extension SessionTimes {
    fileprivate static func expired(at now: UInt64) -> SessionTimes {
        SessionTimes(lastSeen: now, idleEnd: now, absoluteEnd: now, warningLength: 0)
    }
}

extension Session {
    fileprivate convenience init(
        _ record: SessionRecord,
        parent: Session? = nil,
        times: SessionTimes,
        clocks: SessionClocks
    ) {
        self.init(
            record.id,
            token: record.token,
            of: parent?.user ?? record.user,
            at: record.host,
            parent: parent,
            from: record.client,
            created: record.created,
            stamp: record.stamp,
            times: times,
            clocks: clocks
        )
    }
}

extension SaltedStamp {
    /// Returns the cause for which a session with this stamp ends; nil if it continues.
    fileprivate static func end(for status: UserStatus, stamp: SaltedStamp?) -> SessionEndCause? {
        switch (status, stamp) {
        case (.realmGone, _): .realmGone
        case (.user(.unknown), nil): nil
        case (.user(.present(let current)), .some(let stored)):
            (try? stored.matches(current)) == true ? nil : .userChanged
        case (.user(.gone), _), (.user(.unknown), .some), (.user(.present), nil): .userChanged
        }
    }
}

extension SessionRecord {
    /// Returns the times on the monotonic clock; nil if the session has expired or may have expired.
    fileprivate func times(at now: UInt64, wall: Int, limits: SessionLimits) -> SessionTimes? {
        guard wall >= created else { return nil }
        // If the wall clock was set back to before the last use, the session is treated as used now.
        let wall = max(wall, lastSeen)
        let age = SessionLimits.nanoseconds(from: created, to: wall)
        let idle = min(SessionLimits.nanoseconds(from: wall, to: idleExpiry), limits.idle)
        let absolute = min(
            SessionLimits.nanoseconds(from: wall, to: absoluteExpiry),
            limits.absolute - min(age, limits.absolute)
        )
        guard idle > 0, absolute > 0 else { return nil }
        let unused = SessionLimits.nanoseconds(from: lastSeen, to: wall)
        return SessionTimes(
            lastSeen: now - min(unused, now),
            idleEnd: SessionLimits.saturatingSum(now, idle),
            absoluteEnd: SessionLimits.saturatingSum(now, absolute),
            warningLength: limits.warning
        )
    }
}

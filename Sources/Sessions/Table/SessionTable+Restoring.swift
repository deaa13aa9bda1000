// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
public import RealmKit
internal import Synchronization

/// The current status of a session's user.
public enum UserStatus: Sendable, Hashable {
    /// The realm no longer exists, or another realm has its name.
    case realmGone
    /// The user's state in the realm.
    case user(UserState)
}

extension SessionTable {
    /// Restores the sessions of the store; to be called once, before the first request.
    ///
    /// Sessions that have expired are ended, and those whose user or realm has changed. A session with a stamp is also
    /// ended if the stamp cannot be compared now.
    ///
    /// - Parameter status: Returns the current status of a user; called once for each.
    /// - Throws: ``SessionStoreError`` when the store cannot be read; nothing is restored then.
    public func restore(
        _ status: (SignedInUser) async -> UserStatus
    ) async throws(SessionStoreError) {
        guard let store else { return }
        let epoch = revocationEpoch()
        let snapshot = try await store.loadSessions()
        state.withLock { state in
            state.writes.lastCommand = snapshot.lastCommand
            for id in snapshot.ended { state.writes.remove(id) }
        }
        var statuses = StatusCache()
        // The most recently used come first: where there are too many, the others are dropped.
        for record in snapshot.sessions.sorted(by: { $0.lastSeen > $1.lastSeen }) {
            let known = await statuses.status(of: record.user, by: status)
            publish(restore(record, endedBy: SaltedStamp.end(for: known, stamp: record.stamp), since: epoch))
        }
    }

    /// Ends the sessions whose user or realm has changed, as after a reload of the configuration.
    ///
    /// A session whose user cannot be checked now continues.
    ///
    /// - Parameters:
    ///   - realm: The realm whose sessions are checked; nil for all.
    ///   - status: Returns the current status of a user; called once for each.
    public func recheck(
        of realm: String? = nil,
        status: (SignedInUser) async -> UserStatus
    ) async {
        var statuses = StatusCache()
        for session in sessions where realm.map({ $0.utf8.elementsEqual(session.user.realm.utf8) }) ?? true {
            let known = await statuses.status(of: session.user, by: status)
            guard known != .user(.unknown), let cause = SaltedStamp.end(for: known, stamp: session.stamp) else {
                continue
            }
            publish(
                state.withLock { state in
                    var effects = TableEffects()
                    effects.end(session, cause: cause, in: &state)
                    return effects
                }
            )
        }
    }

    private func restore(
        _ record: SessionRecord,
        endedBy end: SessionEnd?,
        since epoch: RevocationEpoch
    ) -> TableEffects {
        let (now, wall) = (clocks.now, clocks.wall.seconds)
        return state.withLock { state in
            let times = record.times(at: now, wall: wall, limits: state.limits)
            let session = Session(record, times: times ?? .over(at: now), clocks: clocks)
            let cause: SessionEnd? =
                if times == nil {
                    record.idleExpiry < record.absoluteExpiry ? .idle : .absolute
                } else if let end {
                    end
                } else if state.revocations.hasRevoked(session, since: epoch) {
                    .userChanged
                } else {
                    state.hasRoom(for: session) ? nil : .limit
                }
            state.insert(session, token: record.token, at: now)
            var effects = TableEffects()
            if let cause { effects.end(session, cause: cause, in: &state) }
            return effects
        }
    }
}

/// The status of users, each of which is looked up once.
private struct StatusCache {
    private var known: [SessionOwner: UserStatus] = [:]

    mutating func status(
        of user: SignedInUser,
        by lookUp: (SignedInUser) async -> UserStatus
    ) async -> UserStatus {
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
    /// The times of a session that has expired.
    fileprivate static func over(at now: UInt64) -> SessionTimes {
        SessionTimes(seen: now, idleEnd: now, absoluteEnd: now, warning: 0)
    }
}

extension Session {
    fileprivate convenience init(_ record: SessionRecord, times: SessionTimes, clocks: SessionClocks) {
        self.init(
            record.id,
            of: record.user,
            at: record.host,
            from: record.client,
            identity: nil,
            created: record.created,
            stamp: record.stamp,
            times: times,
            clocks: clocks
        )
    }
}

extension SaltedStamp {
    /// Returns the cause for which a session ends with its user's status; nil if it continues.
    fileprivate static func end(for status: UserStatus, stamp: SaltedStamp?) -> SessionEnd? {
        switch (status, stamp) {
        case (.realmGone, _): .realmGone
        case (.user(.unknown), nil): nil
        case (.user(.present(let now)), .some(let then)): isSame(then, as: now) ? nil : .userChanged
        case (.user(.gone), _), (.user(.unknown), .some), (.user(.present), nil): .userChanged
        }
    }

    private static func isSame(_ then: SaltedStamp, as now: SecurityStamp) -> Bool {
        do throws(OpenSSLError) { return try then.isMade(of: now) } catch { return false }
    }
}

extension SessionRecord {
    /// The moments of the session; nil if it has expired, or that cannot be ruled out.
    fileprivate func times(at now: UInt64, wall: Int, limits: SessionLimits) -> SessionTimes? {
        guard wall >= created else { return nil }
        // Where the clock was set back, no time has passed since the last use.
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
            seen: now - min(unused, now),
            idleEnd: SessionLimits.sum(now, idle),
            absoluteEnd: SessionLimits.sum(now, absolute),
            warning: limits.warning
        )
    }
}

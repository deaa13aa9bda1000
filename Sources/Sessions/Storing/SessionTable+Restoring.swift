// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
public import RealmKit
internal import Synchronization

/// What is known of a stored session's user now.
public enum UserStanding: Sendable, Hashable {
    /// There is no such realm any more, or it is not the same.
    case realmGone
    /// What the realm says.
    case user(UserState)
}

extension SessionTable {
    /// Takes over the sessions that the store has kept; to be called once, before the first request.
    ///
    /// Those whose time is over are ended, and those whose user or realm is not the same any more. Where that cannot be told,
    /// though it could when the session began, they are ended too.
    ///
    /// - Parameter standing: What is known of a user now; asked once for each.
    /// - Throws: ``SessionStoreError`` when the store cannot be read; nothing is taken over then.
    public func restore(
        _ standing: (SignedInUser) async -> UserStanding
    ) async throws(SessionStoreError) {
        guard let store else { return }
        let mark = mark()
        let snapshot = try await store.loadSessions()
        state.withLock { $0.behind.lastOrder = snapshot.lastOrder }
        var standings = Standings()
        // Those used last come first: where there are too many, the others stay out.
        for record in snapshot.sessions.sorted(by: { $0.lastSeen > $1.lastSeen }) {
            let known = await standings.of(record.user, standing)
            tell(restore(record, SaltedStamp.end(known, record.stamp), since: mark))
        }
    }

    /// Ends the sessions whose user or realm is not the same any more, as after another configuration has been read.
    ///
    /// Where nothing can be told now, they go on.
    ///
    /// - Parameters:
    ///   - realm: Whose sessions; nil for all.
    ///   - standing: What is known of a user now; asked once for each.
    public func recheck(
        of realm: String? = nil,
        _ standing: (SignedInUser) async -> UserStanding
    ) async {
        var standings = Standings()
        for session in sessions where realm.map({ $0.utf8.elementsEqual(session.user.realm.utf8) }) ?? true {
            let known = await standings.of(session.user, standing)
            guard known != .user(.unknown), let cause = SaltedStamp.end(known, session.stamp) else { continue }
            tell(
                state.withLock { state in
                    var turn = Turn()
                    turn.end(session, cause, &state)
                    return turn
                }
            )
        }
    }

    private func restore(_ record: SessionRecord, _ end: SessionEnd?, since mark: SessionMark) -> Turn {
        let (now, wall) = (clocks.now, clocks.wall.seconds)
        return state.withLock { state in
            let times = record.times(now, wall: wall, state.limits)
            let session = Session(record, times ?? .over(now), clocks)
            let cause: SessionEnd? =
                if times == nil {
                    record.idleExpiry < record.absoluteExpiry ? .idle : .absolute
                } else if let end {
                    end
                } else if state.endings.mean(session, since: mark) {
                    .userChanged
                } else {
                    state.hasRoom(for: session) ? nil : .limit
                }
            state.insert(session, record.token, now)
            var turn = Turn()
            if let cause { turn.end(session, cause, &state) }
            return turn
        }
    }
}

/// What is known of users, each of whom is asked about once.
private struct Standings {
    private var known: [SessionOwner: UserStanding] = [:]

    mutating func of(_ user: SignedInUser, _ ask: (SignedInUser) async -> UserStanding) async -> UserStanding {
        let owner = SessionOwner(user)
        if let asked = known[owner] { return asked }
        let answer = await ask(user)
        known[owner] = answer
        return answer
    }
}

extension TableState {
    fileprivate func hasRoom(for session: Session) -> Bool {
        count < settings.total && sessions(of: SessionOwner(session.user)).count < max(1, settings.perUser)
    }
}

extension SessionTimes {
    /// Those of a session whose time is over.
    fileprivate static func over(_ now: UInt64) -> SessionTimes {
        SessionTimes(seen: now, idleEnd: now, absoluteEnd: now, warning: 0)
    }
}

extension Session {
    fileprivate convenience init(_ record: SessionRecord, _ times: SessionTimes, _ clocks: SessionClocks) {
        self.init(
            record.id,
            record.user,
            record.client,
            nil,
            created: record.created,
            stamp: record.stamp,
            times,
            clocks
        )
    }
}

extension SaltedStamp {
    /// Why a session is not to go on, going by its user; nil if it may.
    fileprivate static func end(_ standing: UserStanding, _ stamp: SaltedStamp?) -> SessionEnd? {
        switch (standing, stamp) {
        case (.realmGone, _): .realmGone
        case (.user(.unknown), nil): nil
        case (.user(.present(let now)), .some(let then)): Self.isSame(then, now) ? nil : .userChanged
        case (.user(.gone), _), (.user(.unknown), .some), (.user(.present), nil): .userChanged
        }
    }

    private static func isSame(_ then: SaltedStamp, _ now: UserStamp) -> Bool {
        do throws(OpenSSLError) { return try then.isMade(of: now) } catch { return false }
    }
}

extension SessionRecord {
    /// The moments of the session; nil if its time is over, or cannot be told.
    fileprivate func times(_ now: UInt64, wall: Int, _ limits: SessionLimits) -> SessionTimes? {
        guard wall >= created else { return nil }
        // Where the clock was set back, no time at all has passed since then.
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

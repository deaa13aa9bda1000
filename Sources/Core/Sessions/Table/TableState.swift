// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit
internal import RealmKit

struct TableState: Sendable {
    struct Entry: Sendable {
        let session: Session
        /// The second at which the session is checked next; 0 for a child session, which is checked with its parent.
        var second: UInt64 = 0
        /// The child sessions, the oldest first.
        var children: [Session] = []
    }

    var settings: SessionSettings
    var limits: SessionLimits
    var revocations = RevocationLog<Session>()
    private(set) var entries: [SessionID: Entry] = [:]
    private(set) var byToken: [Digest: Session] = [:]
    /// The sessions of the sign-ins of each user, without their children.
    private var byOwner: [SessionOwner: [Session]] = [:]
    private var expiries = ExpiryQueue()
    /// The number of sessions that are being stored and are not in the table yet.
    var reserved = 0
    var writes: SessionWriteQueue

    init(_ settings: SessionSettings, hasStore: Bool) {
        self.settings = settings
        limits = SessionLimits(settings)
        writes = SessionWriteQueue(hasStore: hasStore)
    }

    var count: Int { entries.count }

    var isFull: Bool { count + reserved >= settings.total }

    func sessions(of owner: SessionOwner) -> [Session] { byOwner[owner] ?? [] }

    func children(of session: Session) -> [Session] { entries[session.id]?.children ?? [] }

    // MARK: Insertion and removal

    mutating func insert(_ session: Session, at now: UInt64) {
        byToken[session.token] = session
        entries[session.id] = Entry(session: session)
        if let parent = session.parent {
            entries[parent.id]?.children.append(session)
        } else {
            schedule(session, at: now)
            byOwner[SessionOwner(session.user), default: []].append(session)
        }
    }

    /// Removes a session and its children, and returns them, the given session first; empty if it was not in the table.
    mutating func remove(_ session: Session, cause: SessionEndCause) -> [Session] {
        guard let entry = entries[session.id], entry.session === session else { return [] }
        entries[session.id] = nil
        byToken[session.token] = nil
        if let parent = session.parent {
            entries[parent.id]?.children.removeAll { $0 === session }
        } else {
            let owner = SessionOwner(session.user)
            byOwner[owner]?.removeAll { $0 === session }
            if byOwner[owner]?.isEmpty == true { byOwner[owner] = nil }
        }
        session.setEnd(cause)
        writes.remove(session)
        return [session] + entry.children.flatMap { remove($0, cause: cause) }
    }

    mutating func end(_ sessions: [Session], cause: SessionEndCause) -> TableEffects {
        var effects = TableEffects()
        for session in sessions { effects.end(session, cause: cause, in: &self) }
        return effects
    }

    // MARK: Expiry

    /// Records a use of a session; true if the clients were warned and the use has postponed the end.
    mutating func touch(_ session: Session, at now: UInt64) -> Bool {
        let session = session.signIn
        let isExtended = session.touch(at: now, limits: limits)
        writes.touch(session)
        if isExtended { schedule(session, at: now) }
        return isExtended
    }

    private mutating func schedule(_ session: Session, at now: UInt64) {
        entries[session.id]?.second = expiries.add(session, at: now, limits: limits)
    }

    /// Schedules every session again, because new settings may end it earlier.
    mutating func scheduleAll(at now: UInt64) {
        for session in entries.values.map(\.session) where session.parent == nil { schedule(session, at: now) }
    }

    /// Ends expired sessions, and finds the sessions whose clients must be warned.
    mutating func sweep(at now: UInt64) -> TableEffects {
        var effects = TableEffects()
        for (second, ids) in expiries.takeDue(at: now) {
            for id in ids {
                // Since it was scheduled for this second, the session may have ended or been scheduled again.
                guard let entry = entries[id], entry.second == second else { continue }
                let session = entry.session
                let times = session.times
                guard now < times.end else {
                    effects.end(session, cause: times.cause, in: &self)
                    continue
                }
                if now >= times.warningMoment, session.markWarned() {
                    effects.warned += ([session] + entry.children).map { ($0, times.end - now) }
                }
                schedule(session, at: now)
            }
        }
        return effects
    }
}

/// The effects of a change to the table, published after its lock is released.
struct TableEffects: Sendable {
    var ended: [(session: Session, cause: SessionEndCause)] = []
    /// The sessions whose clients must be warned, each with the nanoseconds until its end.
    var warned: [(session: Session, left: UInt64)] = []

    mutating func end(_ session: Session, cause: SessionEndCause, in state: inout TableState) {
        ended += state.remove(session, cause: cause).map { ($0, cause) }
    }
}

/// The schedule of the sessions that are checked for expiry, in seconds.
///
/// A session is scheduled for the earliest time at which its clients may have to be warned or it may have to end. A use
/// does not change the schedule: the check schedules a session again that was used before. A look at every session would
/// take the lock from all requests for as long as there are sessions, of which the settings allow ten million.
struct ExpiryQueue: Sendable {
    private var seconds: [UInt64: [SessionID]] = [:]

    /// Schedules a session, and returns the second at which it is checked.
    mutating func add(_ session: Session, at now: UInt64, limits: SessionLimits) -> UInt64 {
        // After a change to shorter limits, the next use can make the end earlier, but not earlier than this.
        let moment = min(session.nextMoment, limits.idleEnd(after: now))
        let second = moment / 1_000_000_000 + (moment % 1_000_000_000 == 0 ? 0 : 1)
        seconds[second, default: []].append(session.id)
        return second
    }

    mutating func takeDue(at now: UInt64) -> [(second: UInt64, ids: [SessionID])] {
        seconds.keys.filter { $0 <= now / 1_000_000_000 }.sorted().compactMap { second in
            seconds.removeValue(forKey: second).map { (second, $0) }
        }
    }
}

/// The user that sessions are counted for: a realm and a user name, both compared byte by byte.
struct SessionOwner: Sendable, Hashable {
    let realm: String
    let name: Username

    init(_ user: SignedInUser) {
        realm = user.realm
        name = user.username
    }

    static func == (left: SessionOwner, right: SessionOwner) -> Bool {
        left.realm.hasBytes(of: right.realm) && left.name == right.name
    }

    func hash(into hasher: inout Hasher) {
        realm.hashBytes(into: &hasher)
        hasher.combine(name)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit
internal import RealmKit

struct TableState: Sendable {
    struct Entry: Sendable {
        let session: Session
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

    mutating func insert(_ session: Session) {
        byToken[session.token] = session
        entries[session.id] = Entry(session: session)
        if let parent = session.parent {
            entries[parent.id]?.children.append(session)
        } else {
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
        return isExtended
    }

    /// Ends those of the given sessions that have expired, and finds those whose clients must be warned.
    mutating func check(_ due: [Session], at now: UInt64) -> TableEffects {
        var effects = TableEffects()
        for session in due {
            guard let entry = entries[session.id], entry.session === session else { continue }
            let times = session.times
            if now >= times.end {
                effects.end(session, cause: times.cause, in: &self)
            } else if now >= times.warningMoment, session.markWarned() {
                effects.warned += ([session] + entry.children).map { ($0, times.end - now) }
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

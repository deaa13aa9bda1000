// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import RealmKit

/// The sessions that live, and what is still to be done about them.
struct TableState: Sendable {
    struct Entry: Sendable {
        let session: Session
        var token: Digest
        /// The second in which it is looked at next; see ``Agenda``.
        var second: UInt64
        var isRenewing = false
    }

    var settings: SessionSettings
    var limits: SessionLimits
    var endings = Endings()
    private(set) var entries: [SessionID: Entry] = [:]
    private(set) var byToken: [Digest: Session] = [:]
    private var byUser: [SessionOwner: [Session]] = [:]
    private var agenda = Agenda()
    /// How many are on their way into the store and the table.
    var reserved = 0
    /// What the store is behind in.
    var behind: StoreBacklog

    init(_ settings: SessionSettings, isStored: Bool) {
        self.settings = settings
        limits = SessionLimits(settings)
        behind = StoreBacklog(isStored: isStored)
    }

    var count: Int { entries.count }

    func sessions(of owner: SessionOwner) -> [Session] { byUser[owner] ?? [] }

    // MARK: In and out

    mutating func insert(_ session: Session, _ token: Digest, _ now: UInt64) {
        let second = agenda.add(session, now, limits)
        entries[session.id] = Entry(session: session, token: token, second: second)
        byToken[token] = session
        byUser[SessionOwner(session.user), default: []].append(session)
    }

    /// Takes a session out.
    ///
    /// - Returns: False if it was not in.
    mutating func remove(_ session: Session, _ cause: SessionEnd) -> Bool {
        guard let entry = entries[session.id], entry.session === session else { return false }
        entries[session.id] = nil
        byToken[entry.token] = nil
        let owner = SessionOwner(session.user)
        byUser[owner]?.removeAll { $0 === session }
        if byUser[owner]?.isEmpty == true { byUser[owner] = nil }
        session.setEnd(cause)
        behind.remove(session.id)
        return true
    }

    /// Has a session be found by another token.
    ///
    /// - Returns: False if it is not in.
    mutating func renew(_ session: Session, _ token: Digest) -> Bool {
        guard let entry = entries[session.id] else { return false }
        byToken[entry.token] = nil
        byToken[token] = session
        entries[session.id]?.token = token
        return true
    }

    mutating func setRenewing(_ session: Session, _ isRenewing: Bool) { entries[session.id]?.isRenewing = isRenewing }

    // MARK: Time

    /// Takes note that a session was used.
    ///
    /// - Returns: Whether that moved an end of which its clients had been warned.
    mutating func touch(_ session: Session, _ now: UInt64) -> Bool {
        let isExtended = session.touch(now, limits)
        if session.noteTouch() { behind.touch(session) }
        if isExtended { plan(session, now) }
        return isExtended
    }

    private mutating func plan(_ session: Session, _ now: UInt64) {
        entries[session.id]?.second = agenda.add(session, now, limits)
    }

    /// Ends what has expired, and finds those whose clients are to be warned.
    mutating func sweep(_ now: UInt64) -> Turn {
        var turn = Turn()
        for (second, ids) in agenda.takeDue(now) {
            for id in ids {
                // It may be gone, or have been put down for another second since.
                guard let entry = entries[id], entry.second == second else { continue }
                let session = entry.session
                let times = session.times
                guard now < times.end else {
                    turn.end(session, times.cause, &self)
                    continue
                }
                if now >= times.warningMoment, session.warn() {
                    turn.warned.append((session, times.end - now))
                }
                plan(session, now)
            }
        }
        return turn
    }

    /// Has every session looked at again in time, as they may end earlier than they did.
    mutating func planAll(_ now: UInt64) {
        for session in entries.values.map(\.session) { plan(session, now) }
    }
}

/// When sessions are to be looked at, by the second.
///
/// A session is put down for the first moment at which something may be to be done; that it was used since is found then.
/// So the use of a session costs nothing here.
struct Agenda: Sendable {
    private var seconds: [UInt64: [SessionID]] = [:]

    /// Puts a session down.
    ///
    /// - Returns: For which second.
    mutating func add(_ session: Session, _ now: UInt64, _ limits: SessionLimits) -> UInt64 {
        // Where the settings have become stricter its next use may bring its end nearer, though never nearer than that.
        let moment = min(session.nextMoment, limits.idleEnd(after: now))
        let second = moment / 1_000_000_000 + (moment % 1_000_000_000 == 0 ? 0 : 1)
        seconds[second, default: []].append(session.id)
        return second
    }

    /// Takes off all that is due.
    mutating func takeDue(_ now: UInt64) -> [(second: UInt64, ids: [SessionID])] {
        seconds.keys.filter { $0 <= now / 1_000_000_000 }.sorted().compactMap { second in
            seconds.removeValue(forKey: second).map { (second, $0) }
        }
    }
}

/// What has come of a change to the table, to be told outside of its lock.
struct Turn: Sendable {
    var ended: [(session: Session, cause: SessionEnd)] = []
    /// Those whose clients are to be warned, and how many nanoseconds are left.
    var warned: [(session: Session, left: UInt64)] = []

    mutating func end(_ session: Session, _ cause: SessionEnd, _ state: inout TableState) {
        if state.remove(session, cause) { ended.append((session, cause)) }
    }
}

/// Whose sessions are counted together: realm and name, byte by byte.
struct SessionOwner: Sendable, Hashable {
    let realm: String
    let name: Username

    init(_ user: SignedInUser) {
        realm = user.realm
        name = user.username
    }

    static func == (left: SessionOwner, right: SessionOwner) -> Bool {
        left.realm.utf8.elementsEqual(right.realm.utf8) && left.name == right.name
    }

    func hash(into hasher: inout Hasher) {
        for byte in realm.utf8 { hasher.combine(byte) }
        hasher.combine(name)
    }
}

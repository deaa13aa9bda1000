// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import RealmKit

/// The live sessions, their schedule, and the writes that are pending.
struct TableState: Sendable {
    struct Entry: Sendable {
        let session: Session
        let token: Digest
        /// The second at which it is checked next; see ``ExpiryQueue``.
        var second: UInt64
    }

    var settings: SessionSettings
    var limits: SessionLimits
    var revocations = RevocationLog<Session>()
    private(set) var entries: [SessionID: Entry] = [:]
    private(set) var byToken: [Digest: Session] = [:]
    private var byOwner: [SessionOwner: [Session]] = [:]
    private var expiries = ExpiryQueue()
    /// The number of sessions that are being written to the store, and not in the table yet.
    var reserved = 0
    /// The changes that are not in the store yet.
    var writes: SessionWriteQueue

    init(_ settings: SessionSettings, isStored: Bool) {
        self.settings = settings
        limits = SessionLimits(settings)
        writes = SessionWriteQueue(isStored: isStored)
    }

    var count: Int { entries.count }

    func sessions(of owner: SessionOwner) -> [Session] { byOwner[owner] ?? [] }

    // MARK: In and out

    mutating func insert(_ session: Session, token: Digest, at now: UInt64) {
        let second = expiries.add(session, at: now, limits: limits)
        entries[session.id] = Entry(session: session, token: token, second: second)
        byToken[token] = session
        byOwner[SessionOwner(session.user), default: []].append(session)
    }

    /// Removes a session.
    ///
    /// - Returns: False if it was not in the table.
    mutating func remove(_ session: Session, cause: SessionEnd) -> Bool {
        guard let entry = entries[session.id], entry.session === session else { return false }
        entries[session.id] = nil
        byToken[entry.token] = nil
        let owner = SessionOwner(session.user)
        byOwner[owner]?.removeAll { $0 === session }
        if byOwner[owner]?.isEmpty == true { byOwner[owner] = nil }
        session.setEnd(cause)
        writes.remove(session, token: entry.token)
        return true
    }

    // MARK: Time

    /// Records a use of a session.
    ///
    /// - Returns: True if the use has postponed an end of which clients were warned.
    mutating func touch(_ session: Session, at now: UInt64) -> Bool {
        let isExtended = session.touch(at: now, limits: limits)
        if session.noteTouch() { writes.touch(session) }
        if isExtended { schedule(session, at: now) }
        return isExtended
    }

    private mutating func schedule(_ session: Session, at now: UInt64) {
        entries[session.id]?.second = expiries.add(session, at: now, limits: limits)
    }

    /// Ends expired sessions, and finds those whose clients are to be warned.
    mutating func sweep(at now: UInt64) -> TableEffects {
        var effects = TableEffects()
        for (second, ids) in expiries.takeDue(at: now) {
            for id in ids {
                // The session may have ended, or be scheduled for another second by now.
                guard let entry = entries[id], entry.second == second else { continue }
                let session = entry.session
                let times = session.times
                guard now < times.end else {
                    effects.end(session, cause: times.cause, in: &self)
                    continue
                }
                if now >= times.warningMoment, session.warn() {
                    effects.warned.append((session, times.end - now))
                }
                schedule(session, at: now)
            }
        }
        return effects
    }

    /// Schedules every session anew, as each may end earlier than before.
    mutating func scheduleAll(at now: UInt64) {
        for session in entries.values.map(\.session) { schedule(session, at: now) }
    }
}

/// The effects of a change to the table, to be published without its lock.
struct TableEffects: Sendable {
    var ended: [(session: Session, cause: SessionEnd)] = []
    /// The sessions whose clients are to be warned, and the nanoseconds that are left to them.
    var warned: [(session: Session, left: UInt64)] = []

    mutating func end(_ session: Session, cause: SessionEnd, in state: inout TableState) {
        if state.remove(session, cause: cause) { ended.append((session, cause)) }
    }
}

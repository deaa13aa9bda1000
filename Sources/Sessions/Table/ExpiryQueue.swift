// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The sessions to be checked for expiry, by the second.
///
/// A session is scheduled for the first moment at which it may have to be warned or ended. If it has been used since,
/// it is scheduled again at that moment, so a use costs nothing here.
struct ExpiryQueue: Sendable {
    private var seconds: [UInt64: [SessionID]] = [:]

    /// Schedules a session.
    ///
    /// - Returns: The second at which it is due.
    mutating func add(_ session: Session, at now: UInt64, limits: SessionLimits) -> UInt64 {
        // With stricter settings the next use may move the end forward, but never to before this moment.
        let moment = min(session.nextMoment, limits.idleEnd(after: now))
        let second = moment / 1_000_000_000 + (moment % 1_000_000_000 == 0 ? 0 : 1)
        seconds[second, default: []].append(session.id)
        return second
    }

    /// Removes and returns all that is due.
    mutating func takeDue(at now: UInt64) -> [(second: UInt64, ids: [SessionID])] {
        seconds.keys.filter { $0 <= now / 1_000_000_000 }.sorted().compactMap { second in
            seconds.removeValue(forKey: second).map { (second, $0) }
        }
    }
}

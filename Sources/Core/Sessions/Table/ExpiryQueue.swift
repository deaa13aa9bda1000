// SPDX-License-Identifier: Apache-2.0

/// The schedule of the sessions that are checked for expiry, in seconds.
///
/// A session is scheduled for the earliest time at which its clients may have to be warned or the session may have to
/// end. A use does not change the schedule. If the session was used before it is checked, the check schedules it again.
struct ExpiryQueue: Sendable {
    private var seconds: [UInt64: [SessionID]] = [:]

    /// Schedules a session.
    ///
    /// - Returns: The second at which the session is checked.
    mutating func add(_ session: Session, at now: UInt64, limits: SessionLimits) -> UInt64 {
        // After a change to shorter limits, the next use can make the end earlier, but not earlier than this.
        let moment = min(session.nextMoment, limits.idleEnd(after: now))
        let second = moment / 1_000_000_000 + (moment % 1_000_000_000 == 0 ? 0 : 1)
        seconds[second, default: []].append(session.id)
        return second
    }

    /// Removes and returns the sessions that are due.
    mutating func takeDue(at now: UInt64) -> [(second: UInt64, ids: [SessionID])] {
        seconds.keys.filter { $0 <= now / 1_000_000_000 }.sorted().compactMap { second in
            seconds.removeValue(forKey: second).map { (second, $0) }
        }
    }
}

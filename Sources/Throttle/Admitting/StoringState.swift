// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The state of a throttle's writes to its store.
struct StoringState: Sendable {
    /// The number of the last reset that was applied here.
    var lastReset = 0
    /// True if the store has to be rewritten as a whole.
    var mustRewrite = false
    /// True if changes are being saved.
    var isFlushing = false
    /// The difference between the wall clock and the monotonic clock, in seconds, when times were last stored.
    var offset: Int?
    /// The task that waits for something to store.
    var idle: CheckedContinuation<Void, Never>?
    /// True if changes are to be stored at once.
    var isUrgent = false
}

extension ThrottleState {
    /// Clears failures and locks.
    ///
    /// - Returns: The attempts that no longer wait.
    mutating func clear(_ scope: LockoutReset.Scope, at now: Int) -> [Woken] {
        switch scope {
        case .one(let key):
            switch key {
            case .account:
                accounts.clear(key)
                uncountedGuesses.clear(key)
            case .source: sources.clear(key)
            }
            return wake(key, at: now)
        case .all:
            accounts.clearAll()
            sources.clearAll()
            uncountedGuesses.clearAll()
            storing.mustRewrite = true
            return wakeAll(at: now)
        }
    }

    /// Removes and returns the changes to be stored.
    ///
    /// - Parameters:
    ///   - now: The moment.
    ///   - wall: The time in seconds since 1970.
    /// - Returns: The changes, in order.
    mutating func takeChanges(at now: Int, wall: Int) -> [ThrottleChange] {
        let offset = wall - now / 1_000_000_000
        // If the wall clock was set, all times that are stored are wrong.
        if let before = storing.offset, abs(offset - before) > 2 { storing.mustRewrite = true }
        storing.offset = offset
        if accounts.hasTooManyChanges || sources.hasTooManyChanges { storing.mustRewrite = true }
        defer {
            accounts.changed = []
            sources.changed = []
            accounts.hasTooManyChanges = false
            sources.hasTooManyChanges = false
            storing.mustRewrite = false
        }
        guard !storing.mustRewrite else {
            let records = [accounts, sources].flatMap { table in
                table.records.compactMap { table.stored($0, at: now, wall: wall) }
            }
            return [.removeAll] + records.map(ThrottleChange.save)
        }
        return [accounts, sources].flatMap { table in
            table.changed.map { key in
                guard let record = table.record(key, at: now), let stored = table.stored(record, at: now, wall: wall)
                else {
                    return .remove(key)
                }
                return .save(stored)
            }
        }
    }
}

extension FailureTable {
    /// Returns a record as it is stored; nil if it has expired.
    func stored(_ record: Record, at now: Int, wall: Int) -> ThrottleRecord? {
        let newest = wall - (now - record.newest) / 1_000_000_000
        if let lockEnd = record.lockEnd {
            let end = wall + FailureThrottle.seconds(lockEnd - now)
            return ThrottleRecord(
                record.key,
                owner: record.owner,
                failures: record.failuresAtLock,
                newest: newest,
                lockEnd: end,
                expiry: end
            )
        }
        let failures = record.failures.count(in: rules.slot(now))
        guard failures > 0 else { return nil }
        let expiry = newest + FailureThrottle.seconds(rules.window + rules.window / FailureWindow.slots)
        return ThrottleRecord(
            record.key,
            owner: record.owner,
            failures: failures,
            newest: newest,
            expiry: expiry
        )
    }

    /// Restores a stored record, unless it has expired.
    ///
    /// The wall clock may have jumped: no record is newer than now, and no lock is longer than the settings allow.
    mutating func restore(_ stored: ThrottleRecord, at now: Int, wall: Int) {
        let newest = now - Self.span(from: stored.newest, to: wall)
        if let lockEnd = stored.lockEnd {
            let left = min(Self.span(from: wall, to: lockEnd), rules.lock)
            guard rules.limit > 0, left > 0 else { return }
            restore(
                stored.key,
                owner: stored.owner,
                failures: stored.failures,
                newest: newest,
                lockEnd: now + left,
                at: now
            )
            return
        }
        // If the limit is lower than before, the record gets one failure less than the limit: restoring locks nothing.
        let failures = min(stored.failures, rules.limit > 0 ? rules.limit - 1 : Int(UInt16.max))
        guard failures > 0, rules.slot(now) - rules.slot(newest) <= FailureWindow.slots else { return }
        restore(stored.key, owner: stored.owner, failures: failures, newest: newest, lockEnd: nil, at: now)
    }

    /// The nanoseconds between two times in seconds; 0 if the second is the earlier one.
    private static func span(from: Int, to: Int) -> Int {
        let (seconds, overflow) = to.subtractingReportingOverflow(from)
        return Duration.seconds(overflow ? (to > from ? .max : 0) : seconds).boundedNanoseconds
    }
}

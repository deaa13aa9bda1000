// SPDX-License-Identifier: Apache-2.0

/// The state of a throttle's writes to its store.
struct StoringState: Sendable {
    /// The number of the last reset that this throttle has applied.
    var lastReset = 0
    /// True if all records must be stored again.
    var mustRewrite = false
    /// True if changes are being saved.
    var isFlushing = false
    /// The wall clock minus the monotonic clock, in seconds, at the last write.
    var clockOffset: Int?
    /// The task that waits for the next write.
    var waitingWriter: CheckedContinuation<Void, Never>?
    /// True if the next write begins at once, without waiting for the interval.
    var isUrgent = false
}

extension ThrottleState {
    /// Clears failures and locks, and returns the attempts whose wait has ended.
    mutating func clear(_ scope: LockoutReset.Scope, at now: Int) -> [EndedWait] {
        switch scope {
        case .one(let key):
            switch key {
            case .account:
                accounts.clear(key)
                presentedPasswords.clear(key)
            case .source: sources.clear(key)
            }
            return admitWaiting(for: key, at: now)
        case .all:
            accounts.clearAll()
            sources.clearAll()
            presentedPasswords.clearAll()
            storing.mustRewrite = true
            return admitAllWaiting(at: now)
        }
    }

    /// Removes the changes that must be stored, and returns them in order; `wall` is in seconds since 1970.
    mutating func takeChanges(at now: Int, wall: Int) -> [ThrottleChange] {
        let offset = wall - now / 1_000_000_000
        // If the wall clock was set, all stored times are wrong. Rounding alone changes the offset by a second.
        if let before = storing.clockOffset, abs(offset - before) > 2 { storing.mustRewrite = true }
        storing.clockOffset = offset
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
                else { return .remove(key) }
                return .save(stored)
            }
        }
    }
}

extension FailureTable {
    /// Returns a record in the form for the store; nil if it has expired.
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
        return ThrottleRecord(record.key, owner: record.owner, failures: failures, newest: newest, expiry: expiry)
    }

    /// Restores a stored record, unless it has expired.
    ///
    /// The wall clock may have jumped meanwhile. Therefore a last failure in the future is moved to the present, and a lock is
    /// shortened to the lock time of the settings. The corrected times are stored; otherwise the lock would begin again at
    /// every restart.
    mutating func restore(_ stored: ThrottleRecord, at now: Int, wall: Int) {
        let lockTime = stored.lockEnd.map { Self.span(from: wall, to: $0) } ?? 0
        if stored.newest > wall || lockTime > rules.lock { markChanged(stored.key) }
        let newest = now - Self.span(from: stored.newest, to: wall)
        if stored.lockEnd != nil {
            let left = min(lockTime, rules.lock)
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
        // The limit may be lower than before the restart. Only a further failure locks the key.
        let failures = min(stored.failures, rules.limit > 0 ? rules.limit - 1 : Int(UInt16.max))
        guard failures > 0, rules.slot(now) - rules.slot(newest) <= FailureWindow.slots else { return }
        restore(stored.key, owner: stored.owner, failures: failures, newest: newest, lockEnd: nil, at: now)
    }

    /// Returns the nanoseconds between two times in seconds; 0 if `to` is before `from`.
    private static func span(from: Int, to: Int) -> Int {
        let (seconds, overflow) = to.subtractingReportingOverflow(from)
        return Duration.seconds(overflow ? (to > from ? .max : 0) : seconds).boundedNanoseconds
    }
}

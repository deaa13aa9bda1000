// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What a throttle remembers of its store.
struct StoringState: Sendable {
    /// The last clearance that was done here too.
    var lastClearance = 0
    /// Whether the store is to be emptied before anything is saved.
    var mustRewrite = false
    /// Whether changes are being saved.
    var isFlushing = false
    /// What the wall clock shows more than the other, in seconds, when times were last stored.
    var offset: Int?
    /// Somebody who waits for something to store.
    var idle: CheckedContinuation<Void, Never>?
    /// Whether something is to be stored at once.
    var isUrgent = false
}

extension ThrottleState {
    /// Forgets failures and locks.
    ///
    /// - Returns: Those who need not wait any more.
    mutating func clear(_ what: Clearance.What, _ now: Int) -> [Woken] {
        switch what {
        case .one(let key):
            switch key {
            case .account: accounts.clear(key)
            case .source: sources.clear(key)
            }
            return wake(key, now)
        case .all:
            accounts.clearAll()
            sources.clearAll()
            storing.mustRewrite = true
            return wakeAll(now)
        }
    }

    /// What is to be stored, which is then taken to be.
    ///
    /// - Parameters:
    ///   - now: The moment.
    ///   - wall: The time in seconds since 1970.
    /// - Returns: The changes, in order.
    mutating func takeChanges(_ now: Int, wall: Int) -> [ThrottleChange] {
        let offset = wall - now / 1_000_000_000
        // Where somebody has set the clock, everything that was stored means another time than it did.
        if let before = storing.offset, abs(offset - before) > 2 { storing.mustRewrite = true }
        storing.offset = offset
        if accounts.hasLostTrack || sources.hasLostTrack { storing.mustRewrite = true }
        defer {
            accounts.changed = []
            sources.changed = []
            accounts.hasLostTrack = false
            sources.hasLostTrack = false
            storing.mustRewrite = false
        }
        guard !storing.mustRewrite else {
            let records = [accounts, sources].flatMap { ledger in
                ledger.records.compactMap { ledger.stored($0, now, wall: wall) }
            }
            return [.removeAll] + records.map(ThrottleChange.save)
        }
        return [accounts, sources].flatMap { ledger in
            ledger.changed.map { key in
                guard let record = ledger.record(key, now), let stored = ledger.stored(record, now, wall: wall) else {
                    return .remove(key)
                }
                return .save(stored)
            }
        }
    }
}

extension Ledger {
    /// A record as it is stored; nil if it says nothing any more.
    func stored(_ record: Record, _ now: Int, wall: Int) -> ThrottleRecord? {
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

    /// Takes over a record that was stored, as far as it still says something.
    ///
    /// The wall clock may have jumped: nothing is newer than now, and no lock goes on for longer than locks do.
    mutating func restore(_ stored: ThrottleRecord, _ now: Int, wall: Int) {
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
                now
            )
            return
        }
        // One failure less than locks, if the limit is lower now than it was.
        let failures = min(stored.failures, rules.limit > 0 ? rules.limit - 1 : Int(UInt16.max))
        guard failures > 0, rules.slot(now) - rules.slot(newest) <= FailureWindow.slots else { return }
        restore(stored.key, owner: stored.owner, failures: failures, newest: newest, lockEnd: nil, now)
    }

    /// The nanoseconds between two times in seconds, none if they are the other way round.
    private static func span(from: Int, to: Int) -> Int {
        let (seconds, overflow) = to.subtractingReportingOverflow(from)
        return Duration.seconds(overflow ? (to > from ? .max : 0) : seconds).nanoseconds
    }
}

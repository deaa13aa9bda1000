// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// A bounded table of the failures and locks of accounts or sources.
///
/// A full table evicts records in this order, a 32nd of them at a time, so that the search costs each failure little:
///
/// 1. expired records;
/// 2. the oldest unlocked record of the network with the most unlocked records. A flood of names from one source
///    therefore evicts its own records (CVE-2026-77561);
/// 3. the locked record whose lock ends first.
///
/// A record takes about a hundred bytes plus the length of its key, which is bounded. Moments are nanoseconds of a clock
/// that never runs backwards.
struct FailureTable: Sendable {
    /// The limit, and the times in nanoseconds.
    struct Rules: Sendable {
        /// The number of failures that lock a key; 0 for no locks.
        let limit: Int
        let window: Int
        let lock: Int
        let capacity: Int

        func slot(_ moment: Int) -> Int {
            let length = max(1, (window + FailureWindow.slots - 1) / FailureWindow.slots)
            // The moment of a restored failure from before the start of the clock is negative, and is rounded down too.
            return moment >= 0 ? moment / length : -((length - 1 - moment) / length)
        }
    }

    struct Record: Sendable {
        /// The network that caused the first failure.
        let owner: ClientNetwork?
        var failures: FailureWindow
        var newest: Int
        var lockEnd: Int?
        /// The number of failures that caused the lock.
        var failuresAtLock = 0
        /// Distinguishes the record from earlier and later records of its key.
        fileprivate let number: UInt32
    }

    /// A failure that may still be withdrawn.
    struct CountedFailure: Sendable {
        /// The number of the record that counts it; nil if a lock has prevented the count.
        fileprivate let record: UInt32?
        fileprivate let slot: Int
        /// The number of failures including this one.
        let failures: Int
    }

    let rules: Rules
    /// All records, also those that have expired and are not removed yet.
    private(set) var records: [ThrottleKey: Record] = [:]
    private var lastNumber: UInt32 = 0
    /// The number of records at which the expired ones are removed.
    private var countToRemoveExpired = 0
    /// The keys whose records have changed or were removed since the last write to the store.
    private var changed: Set<ThrottleKey> = []
    /// True if too many keys have changed to list them in ``changed``, so that all records must be stored again.
    private var hasTooManyChanges = false
    private let isStored: Bool

    init(_ rules: Rules, isStored: Bool) {
        self.rules = rules
        self.isStored = isStored
    }

    /// Returns the record of a key, unless it has expired.
    func record(_ key: ThrottleKey, at now: Int) -> Record? {
        records[key].flatMap { isExpired($0, at: now) ? nil : $0 }
    }

    /// Returns the number of locked keys.
    func lockedCount(at now: Int) -> Int { records.values.count { $0.lockEnd != nil && !isExpired($0, at: now) } }

    /// The status of a key.
    enum Status: Hashable {
        /// Not locked, with the number of failures within the window.
        case open(failures: Int)
        /// Locked, with the number of failures that caused the lock.
        case locked(failures: Int)
    }

    func status(_ key: ThrottleKey, at now: Int) -> Status {
        guard !records.isEmpty, let record = record(key, at: now) else { return .open(failures: 0) }
        if record.lockEnd != nil { return .locked(failures: record.failuresAtLock) }
        return .open(failures: record.failures.count(in: rules.slot(now)))
    }

    /// Counts a failure, and locks the key at the limit; returns the failure, and whether it has locked the key.
    ///
    /// A failure of a locked key does not count, and has the number of failures that caused the lock.
    mutating func fail(
        _ key: ThrottleKey,
        owner: ClientNetwork?,
        at now: Int
    ) -> (counted: CountedFailure, hasLocked: Bool) {
        let slot = rules.slot(now)
        var record = record(key, at: now) ?? newRecord(of: owner, since: now, at: now)
        guard record.lockEnd == nil else {
            return (CountedFailure(record: nil, slot: slot, failures: record.failuresAtLock), false)
        }
        record.failures.add(in: slot)
        record.newest = max(record.newest, now)
        let count = record.failures.count(in: slot)
        let hasLocked = rules.limit > 0 && count >= rules.limit
        if hasLocked { (record.lockEnd, record.failuresAtLock) = (now + rules.lock, count) }
        records[key] = record
        markChanged(key)
        return (CountedFailure(record: record.number, slot: slot, failures: count), hasLocked)
    }

    /// Withdraws a failure that still counts, and ends the lock if the key would not have been locked without it.
    mutating func withdraw(_ failure: CountedFailure, of key: ThrottleKey, at now: Int) {
        guard var record = record(key, at: now), record.number == failure.record else { return }
        record.failures.remove(in: failure.slot)
        if let end = record.lockEnd, record.failures.count(in: rules.slot(end - rules.lock)) < rules.limit {
            record.lockEnd = nil
        }
        records[key] = record
        markChanged(key)
    }

    mutating func clearAll() {
        let number = lastNumber
        self = FailureTable(rules, isStored: isStored)
        lastNumber = number
    }

    mutating func clear(_ key: ThrottleKey) {
        if records.removeValue(forKey: key) != nil { markChanged(key) }
    }

    /// Returns a record without failures for which there is a place in the table.
    private mutating func newRecord(of owner: ClientNetwork?, since moment: Int, at now: Int) -> Record {
        if records.count >= countToRemoveExpired { makeRoom(at: now) }
        lastNumber &+= 1
        let window = FailureWindow(since: rules.slot(moment))
        return Record(owner: owner, failures: window, newest: moment, number: lastNumber)
    }

    // MARK: Eviction

    private func isExpired(_ record: Record, at now: Int) -> Bool {
        if let end = record.lockEnd { return now >= end }
        return record.failures.count(in: rules.slot(now)) == 0
    }

    private mutating func makeRoom(at now: Int) {
        let capacity = max(1, rules.capacity)
        for (key, record) in records where isExpired(record, at: now) { clear(key) }
        if records.count >= capacity {
            for key in evictionOrder.prefix(records.count - capacity + 1 + capacity / 32) { clear(key) }
        }
        countToRemoveExpired = min(capacity, 2 * records.count + 64)
    }

    /// The keys in the order of eviction: of 100,000 records it takes some 70 ms.
    private var evictionOrder: [ThrottleKey] {
        let all = Array(records)
        let newest = all.map(\.value.newest)
        let (locked, open) = (
            all.filter { $0.value.lockEnd != nil }, all.indices.filter { all[$0].value.lockEnd == nil }
        )
        // The newest record of each network, then the second newest of each, and so on: to be evicted from the end.
        var ranks: [[ThrottleKey]] = []
        var counts: [ClientNetwork?: Int] = [:]
        for index in open.sorted(by: { newest[$0] > newest[$1] }) {
            let rank = counts[all[index].value.owner, default: 0]
            counts[all[index].value.owner] = rank + 1
            if rank == ranks.count { ranks.append([]) }
            ranks[rank].append(all[index].key)
        }
        let ends = locked.sorted { $0.value.lockEnd ?? 0 < $1.value.lockEnd ?? 0 }
        return ranks.joined().reversed() + ends.map(\.key)
    }

    // MARK: The store

    /// Adds a key to the keys whose records must be stored.
    mutating func markChanged(_ key: ThrottleKey) {
        guard isStored else { return }
        if changed.count >= 2 * rules.capacity {
            changed = []
            hasTooManyChanges = true
        }
        changed.insert(key)
    }

    /// Returns the keys whose records must be stored, and forgets them; nil if they are too many.
    mutating func takeChangedKeys() -> Set<ThrottleKey>? {
        defer { (changed, hasTooManyChanges) = ([], false) }
        return hasTooManyChanges ? nil : changed
    }

    /// Returns the record of a key in the form for the store, unless it has expired.
    func stored(_ key: ThrottleKey, at now: Int, wall: Int) -> ThrottleRecord? {
        guard let record = record(key, at: now) else { return nil }
        let newest = wall - (now - record.newest) / 1_000_000_000
        let end = record.lockEnd.map { wall + FailureThrottle.seconds($0 - now) }
        return ThrottleRecord(
            key,
            owner: record.owner,
            failures: end == nil ? record.failures.count(in: rules.slot(now)) : record.failuresAtLock,
            newest: newest,
            lockEnd: end,
            expiry: end ?? newest + FailureThrottle.seconds(rules.window + rules.window / FailureWindow.slots)
        )
    }

    /// Restores a stored record, unless it has expired or the key already has a record.
    ///
    /// The wall clock may have jumped meanwhile. Therefore a last failure in the future is moved to the present, and a lock is
    /// shortened to the lock time of the settings. The corrected times are stored; otherwise the lock would begin again at
    /// every restart.
    mutating func restore(_ stored: ThrottleRecord, at now: Int, wall: Int) {
        let newest = now - Self.span(from: stored.newest, to: wall)
        let lockTime = stored.lockEnd.map { Self.span(from: wall, to: $0) }
        if stored.newest > wall || lockTime ?? 0 > rules.lock { markChanged(stored.key) }
        var failures = stored.failures
        let lockLeft = lockTime.map { min($0, rules.lock) }
        if let lockLeft {
            guard rules.limit > 0, lockLeft > 0 else { return }
        } else {
            // The limit may be lower than before the restart. Only a further failure locks the key.
            failures = min(failures, rules.limit > 0 ? rules.limit - 1 : Int(UInt16.max))
            guard failures > 0, rules.slot(now) - rules.slot(newest) <= FailureWindow.slots else { return }
        }
        guard records[stored.key] == nil else { return }
        var record = newRecord(of: stored.owner, since: newest, at: now)
        record.failures.add(failures, in: rules.slot(newest))
        if let lockLeft { (record.lockEnd, record.failuresAtLock) = (now + lockLeft, failures) }
        records[stored.key] = record
    }

    /// Returns the nanoseconds between two times in seconds; 0 if `to` is before `from`.
    private static func span(from: Int, to: Int) -> Int {
        let (seconds, overflow) = to.subtractingReportingOverflow(from)
        return Duration.seconds(overflow ? (to > from ? .max : 0) : seconds).boundedNanoseconds
    }
}

/// The number of failures within a window of time, in constant memory.
///
/// A slot is an eighth of the window, numbered by the caller. The failures of the present slot and of the eight before it
/// count: each for at least the window, and for at most an eighth longer.
struct FailureWindow: Sendable {
    static let slots = 8

    private var counts = InlineArray<9, UInt16>(repeating: 0)
    private var newest: Int

    init(since slot: Int) { newest = slot }

    mutating func add(_ failures: Int = 1, in slot: Int) {
        let slot = max(slot, newest)
        if slot - newest > Self.slots {
            counts = InlineArray(repeating: 0)
        } else {
            var empty = newest
            while empty < slot {
                empty += 1
                counts[Self.place(empty)] = 0
            }
        }
        newest = slot
        let sum = Int(counts[Self.place(slot)]) + failures
        counts[Self.place(slot)] = UInt16(clamping: sum)
    }

    /// Removes a failure, if it is still remembered.
    mutating func remove(in slot: Int) {
        guard slot <= newest, newest - slot <= Self.slots, counts[Self.place(slot)] > 0 else { return }
        counts[Self.place(slot)] -= 1
    }

    /// Returns the number of failures in a slot and in the eight slots before it.
    func count(in slot: Int) -> Int {
        var sum = 0
        for age in 0...Self.slots where newest - age >= slot - Self.slots {
            sum += Int(counts[Self.place(newest - age)])
        }
        return sum
    }

    private static func place(_ slot: Int) -> Int {
        let rest = slot % 9
        return rest < 0 ? rest + 9 : rest
    }
}

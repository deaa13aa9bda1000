// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// A bounded table of the failures and locks of accounts or sources.
///
/// Each operation takes constant time. When the table is full, a record is evicted, in this order:
///
/// 1. an expired record;
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
        let key: ThrottleKey
        /// The network that caused the first failure.
        let owner: ClientNetwork?
        var failures: FailureWindow
        var newest: Int
        var lockEnd: Int?
        /// The number of failures that caused the lock.
        var failuresAtLock = 0
        /// Distinguishes the record from earlier and later records of its key.
        fileprivate let number: UInt32
        fileprivate var networkIndex: Int32 = -1
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
    /// The keys whose records have changed or were removed since the last write to the store.
    private var changed: Set<ThrottleKey> = []
    /// True if too many keys have changed to list them in ``changed``, so that all records must be stored again.
    private var hasTooManyChanges = false
    private let isStored: Bool
    private var indexByKey: [ThrottleKey: Int32] = [:]
    private var lastNumber: UInt32 = 0
    private var pool = LinkedListPool<Record>()
    private var networks = RecordsByNetwork()
    /// The records that are not locked, in the order of their last failures.
    private var open = LinkedListPool<Record>.List()
    /// The locked records, in the order in which they were locked.
    private var locked = LinkedListPool<Record>.List()

    init(_ rules: Rules, isStored: Bool) {
        self.rules = rules
        self.isStored = isStored
    }

    var count: Int { pool.count }
    /// All records, in no particular order.
    var records: [Record] { indexByKey.values.map { pool[$0] } }

    /// Returns the record of a key, unless it has expired.
    func record(_ key: ThrottleKey, at now: Int) -> Record? {
        guard let index = indexByKey[key], !isExpired(index, at: now) else { return nil }
        return pool[index]
    }

    /// Returns the number of locked keys, in time in proportion to it.
    func lockedCount(at now: Int) -> Int {
        var count = 0
        var index = locked.first
        while index >= 0 {
            if !isExpired(index, at: now) { count += 1 }
            index = pool.next(after: index, in: .main)
        }
        return count
    }

    /// The status of a key.
    enum Status: Hashable {
        /// Not locked, with the number of failures within the window.
        case open(failures: Int)
        /// Locked, with the number of failures that caused the lock.
        case locked(failures: Int)
    }

    func status(_ key: ThrottleKey, at now: Int) -> Status {
        guard !indexByKey.isEmpty, let index = indexByKey[key], !isExpired(index, at: now) else {
            return .open(failures: 0)
        }
        if pool[index].lockEnd != nil { return .locked(failures: pool[index].failuresAtLock) }
        return .open(failures: pool[index].failures.count(in: rules.slot(now)))
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
        removeExpiredRecords(at: now)
        if let index = indexByKey[key], isExpired(index, at: now) { removeRecord(index) }
        let index: Int32
        if let known = indexByKey[key] {
            guard pool[known].lockEnd == nil else {
                return (CountedFailure(record: nil, slot: slot, failures: pool[known].failuresAtLock), false)
            }
            index = known
            unlink(index)
        } else {
            makeRoom()
            index = insert(key, owner: owner, slot: slot, newest: now)
        }
        pool[index].failures.add(in: slot)
        pool[index].newest = max(pool[index].newest, now)
        let count = pool[index].failures.count(in: slot)
        let hasLocked = rules.limit > 0 && count >= rules.limit
        if hasLocked { lock(index, failures: count, until: now + rules.lock) }
        link(index)
        markChanged(key)
        return (CountedFailure(record: pool[index].number, slot: slot, failures: count), hasLocked)
    }

    /// Withdraws a failure that still counts, and ends the lock if the key would not have been locked without it.
    mutating func withdraw(_ failure: CountedFailure, of key: ThrottleKey, at now: Int) {
        guard let index = indexByKey[key], pool[index].number == failure.record else { return }
        guard !isExpired(index, at: now) else { return }
        pool[index].failures.remove(in: failure.slot)
        if let end = pool[index].lockEnd, pool[index].failures.count(in: rules.slot(end - rules.lock)) < rules.limit {
            unlink(index)
            pool[index].lockEnd = nil
            link(index)
        }
        markChanged(key)
    }

    mutating func clearAll() {
        let number = lastNumber
        self = FailureTable(rules, isStored: isStored)
        lastNumber = number
    }

    mutating func clear(_ key: ThrottleKey) {
        if let index = indexByKey[key] { removeRecord(index) }
    }

    // MARK: Lists

    /// Adds a record without failures, which is in no list yet.
    private mutating func insert(_ key: ThrottleKey, owner: ClientNetwork?, slot: Int, newest: Int) -> Int32 {
        lastNumber &+= 1
        let window = FailureWindow(since: slot)
        let index = pool.insert(Record(key: key, owner: owner, failures: window, newest: newest, number: lastNumber))
        indexByKey[key] = index
        return index
    }

    private mutating func lock(_ index: Int32, failures: Int, until end: Int) {
        pool[index].lockEnd = end
        pool[index].failuresAtLock = failures
    }

    /// Adds a locked record to ``locked``, any other one to ``open`` and to its network's list, whose records are evicted
    /// first.
    private mutating func link(_ index: Int32) {
        guard pool[index].lockEnd == nil else { return pool.append(index, to: &locked, in: .main) }
        pool.append(index, to: &open, in: .main)
        let networkIndex = networks.increment(pool[index].owner)
        pool[index].networkIndex = networkIndex
        pool.append(index, to: &networks[networkIndex], in: .side)
    }

    private mutating func unlink(_ index: Int32) {
        guard pool[index].lockEnd == nil else { return pool.unlink(index, from: &locked, in: .main) }
        pool.unlink(index, from: &open, in: .main)
        let networkIndex = pool[index].networkIndex
        pool.unlink(index, from: &networks[networkIndex], in: .side)
        networks.decrement(networkIndex)
    }

    private mutating func removeRecord(_ index: Int32) {
        unlink(index)
        let key = pool[index].key
        indexByKey[key] = nil
        markChanged(key)
        pool.remove(index)
    }

    // MARK: Eviction

    private func isExpired(_ index: Int32, at now: Int) -> Bool {
        if let end = pool[index].lockEnd { return now >= end }
        return pool[index].failures.count(in: rules.slot(now)) == 0
    }

    /// Removes up to two expired records of each list; as a failure adds one record at most, they do not accumulate.
    private mutating func removeExpiredRecords(at now: Int) {
        for _ in 0..<2 where !open.isEmpty && isExpired(open.first, at: now) { removeRecord(open.first) }
        for _ in 0..<2 where !locked.isEmpty && isExpired(locked.first, at: now) { removeRecord(locked.first) }
    }

    private mutating func makeRoom() {
        while pool.count >= max(1, rules.capacity) {
            if let networkIndex = networks.largestNetwork {
                removeRecord(networks[networkIndex].first)
            } else {
                removeRecord(locked.first)
            }
        }
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
        guard indexByKey[stored.key] == nil else { return }
        makeRoom()
        let slot = rules.slot(newest)
        let index = insert(stored.key, owner: stored.owner, slot: slot, newest: newest)
        pool[index].failures.add(failures, in: slot)
        if let lockLeft { lock(index, failures: failures, until: now + lockLeft) }
        link(index)
    }

    /// Returns the nanoseconds between two times in seconds; 0 if `to` is before `from`.
    private static func span(from: Int, to: Int) -> Int {
        let (seconds, overflow) = to.subtractingReportingOverflow(from)
        return Duration.seconds(overflow ? (to > from ? .max : 0) : seconds).boundedNanoseconds
    }
}

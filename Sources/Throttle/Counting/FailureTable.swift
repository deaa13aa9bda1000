// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// The failures and locks of accounts or sources: a bounded table, each operation of which takes constant time.
///
/// When the table is full, expired records are evicted first; then, of the network that has most records, the oldest that
/// is not locked, so that a flood of names from one source evicts its own records (CVE-2026-77561). Locked records are
/// evicted last, the one that ends first before the others. A record has some hundred bytes and its key, which is bounded.
///
/// Moments are nanoseconds of a clock that never runs backwards.
struct FailureTable: Sendable {
    /// The limit, and the times in nanoseconds.
    struct Rules: Sendable {
        /// The number of failures that lock; 0 for no locks.
        let limit: Int
        let window: Int
        let lock: Int
        let capacity: Int

        func slot(_ moment: Int) -> Int {
            let length = max(1, (window + FailureWindow.slots - 1) / FailureWindow.slots)
            // Rounded down, below zero too: a failure that was restored may be older than the clock.
            return moment >= 0 ? moment / length : -((length - 1 - moment) / length)
        }
    }

    struct Record: Sendable {
        let key: ThrottleKey
        /// The network that caused the first failure.
        let owner: ClientNetwork?
        var failures: FailureWindow
        var newest: Int
        /// The moment at which a lock ends.
        var lockEnd: Int?
        /// The number of failures at the lock.
        var failuresAtLock = 0
        fileprivate var group: Int32 = -1
    }

    let rules: Rules
    /// The keys whose records have changed or been removed since this was last emptied; unused without a store.
    var changed: Set<ThrottleKey> = []
    /// True if so many keys have changed that the store is to be rewritten as a whole.
    var hasTooManyChanges = false
    private let isStored: Bool
    private var places: [ThrottleKey: Int32] = [:]
    private var pool = LinkedSlots<Record>()
    private var networks = RecordsByNetwork()
    /// Records that are not locked, by their newest failure.
    private var open = LinkedSlots<Record>.Chain()
    /// Records that are locked, by the time at which they were locked.
    private var locked = LinkedSlots<Record>.Chain()

    init(_ rules: Rules, isStored: Bool) {
        self.rules = rules
        self.isStored = isStored
    }

    var count: Int { pool.count }

    /// All records, in no order.
    var records: [Record] { places.values.map { pool[$0] } }

    /// Returns the record of a key; nil if there is none, or it has expired.
    func record(_ key: ThrottleKey, at now: Int) -> Record? {
        guard let place = places[key], !isOver(place, at: now) else { return nil }
        return pool[place]
    }

    /// The status of a key.
    enum Status: Hashable {
        /// Not locked, with the number of failures that count.
        case open(failures: Int)
        /// Locked, with the number of failures at the lock.
        case locked(failures: Int)
    }

    /// Returns the status of a key; most keys have no record.
    func status(_ key: ThrottleKey, at now: Int) -> Status {
        guard !places.isEmpty, let place = places[key], !isOver(place, at: now) else { return .open(failures: 0) }
        if pool[place].lockEnd != nil { return .locked(failures: pool[place].failuresAtLock) }
        return .open(failures: pool[place].failures.count(in: rules.slot(now)))
    }

    /// Counts a failure, and locks the key at the limit; a failure of a locked key does not count.
    ///
    /// - Returns: The number of failures that count now, and whether this one has locked the key.
    mutating func fail(_ key: ThrottleKey, owner: ClientNetwork?, at now: Int) -> (failures: Int, hasLocked: Bool) {
        sweep(at: now)
        if let place = places[key], isOver(place, at: now) { drop(place) }
        let place: Int32
        if let known = places[key] {
            guard pool[known].lockEnd == nil else { return (pool[known].failuresAtLock, false) }
            place = known
            takeOut(place)
        } else {
            makeRoom()
            place = pool.insert(Record(key: key, owner: owner, failures: .init(since: rules.slot(now)), newest: now))
            places[key] = place
        }
        pool[place].failures.add(in: rules.slot(now))
        pool[place].newest = max(pool[place].newest, now)
        let count = pool[place].failures.count(in: rules.slot(now))
        let hasLocked = rules.limit > 0 && count >= rules.limit
        if hasLocked { lock(place, failures: count, until: now + rules.lock) }
        putIn(place)
        note(key)
        return (count, hasLocked)
    }

    /// Restores a stored record, unless the key has a record already.
    mutating func restore(
        _ key: ThrottleKey,
        owner: ClientNetwork?,
        failures: Int,
        newest: Int,
        lockEnd: Int?,
        at now: Int
    ) {
        guard places[key] == nil else { return }
        makeRoom()
        let slot = rules.slot(newest)
        let place = pool.insert(Record(key: key, owner: owner, failures: .init(since: slot), newest: newest))
        places[key] = place
        pool[place].failures.add(failures, in: slot)
        if let lockEnd { lock(place, failures: failures, until: lockEnd) }
        putIn(place)
    }

    /// Records that a key's record differs from the stored one.
    mutating func note(_ key: ThrottleKey) {
        guard isStored else { return }
        if changed.count >= 2 * rules.capacity {
            changed = []
            hasTooManyChanges = true
        }
        changed.insert(key)
    }

    /// Removes all records.
    mutating func clearAll() { self = FailureTable(rules, isStored: isStored) }

    /// Removes the record of a key.
    mutating func clear(_ key: ThrottleKey) {
        if let place = places[key] { drop(place) }
    }

    // MARK: Chains

    private mutating func lock(_ place: Int32, failures: Int, until end: Int) {
        pool[place].lockEnd = end
        pool[place].failuresAtLock = failures
    }

    /// A locked record does not count for its network, so that it is not evicted with it.
    private mutating func putIn(_ place: Int32) {
        guard pool[place].lockEnd == nil else { return pool.append(place, to: &locked, in: .main) }
        pool.append(place, to: &open, in: .main)
        let group = networks.grow(pool[place].owner)
        pool[place].group = group
        pool.append(place, to: &networks[group], in: .side)
    }

    private mutating func takeOut(_ place: Int32) {
        guard pool[place].lockEnd == nil else { return pool.unlink(place, from: &locked, in: .main) }
        pool.unlink(place, from: &open, in: .main)
        let group = pool[place].group
        pool.unlink(place, from: &networks[group], in: .side)
        networks.shrink(group)
    }

    private mutating func drop(_ place: Int32) {
        takeOut(place)
        let key = pool[place].key
        places[key] = nil
        note(key)
        pool.remove(place)
    }

    // MARK: Room

    private func isOver(_ place: Int32, at now: Int) -> Bool {
        if let end = pool[place].lockEnd { return now >= end }
        return pool[place].failures.count(in: rules.slot(now)) == 0
    }

    /// Drops a few expired records: more than are added in the same time.
    private mutating func sweep(at now: Int) {
        for _ in 0..<2 where !open.isEmpty && isOver(open.first, at: now) { drop(open.first) }
        for _ in 0..<2 where !locked.isEmpty && isOver(locked.first, at: now) { drop(locked.first) }
    }

    private mutating func makeRoom() {
        while pool.count >= max(1, rules.capacity) {
            if let group = networks.largestGroup {
                drop(networks[group].first)
            } else {
                drop(locked.first)
            }
        }
    }
}

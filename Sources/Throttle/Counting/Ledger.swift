// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// Who has failed how often, and who is locked: a bounded table, each operation of which takes constant time.
///
/// Where the table is full, what says nothing any more goes first; then, of the owner that has most records, the oldest
/// that is not locked: a flood of names from one source pushes out its own (CVE-2026-77561). Locked records go last, the
/// one that ends first before the others. A record has some hundred bytes and its key, which is bounded too.
///
/// Moments are nanoseconds of a clock that never runs backwards.
struct Ledger: Sendable {
    /// When a key is locked, and for how long, in nanoseconds.
    struct Rules: Sendable {
        /// How many failures lock; 0 for none.
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
        /// Who brought it first.
        let owner: Source?
        var failures: FailureWindow
        var newest: Int
        /// The moment at which a lock ends.
        var lockEnd: Int?
        /// How many failures there were when it was locked.
        var failuresAtLock = 0
        fileprivate var crowd: Int32 = -1
    }

    let rules: Rules
    /// Keys whose record has changed or gone since somebody emptied this; none where nobody will.
    var changed: Set<ThrottleKey> = []
    /// Whether there were more such keys than are worth noting: everything has to be stored anew.
    var hasLostTrack = false
    private let isStored: Bool
    private var places: [ThrottleKey: Int32] = [:]
    private var pool = Pool<Record>()
    private var crowds = Crowds()
    /// Records that are not locked, by their newest failure.
    private var open = Pool<Record>.Chain()
    /// Locked ones, by when they were locked.
    private var locked = Pool<Record>.Chain()

    init(_ rules: Rules, isStored: Bool) {
        self.rules = rules
        self.isStored = isStored
    }

    var count: Int { pool.count }

    /// All records, in no order.
    var records: [Record] { places.values.map { pool[$0] } }

    /// What there is on a key; nil if there is nothing that still counts.
    func record(_ key: ThrottleKey, _ now: Int) -> Record? {
        guard let place = places[key], !isOver(place, now) else { return nil }
        return pool[place]
    }

    /// How a key stands.
    enum Standing: Hashable {
        /// It is not locked, and so many failures count.
        case open(failures: Int)
        /// It is locked, after so many.
        case locked(failures: Int)
    }

    /// How a key stands; most have never failed.
    func standing(_ key: ThrottleKey, _ now: Int) -> Standing {
        guard !places.isEmpty, let place = places[key], !isOver(place, now) else { return .open(failures: 0) }
        if pool[place].lockEnd != nil { return .locked(failures: pool[place].failuresAtLock) }
        return .open(failures: pool[place].failures.count(in: rules.slot(now)))
    }

    /// Counts a failure, and locks where it is one too many; one of a key that is locked does not count.
    ///
    /// - Returns: How many count now, and whether this one has locked.
    mutating func fail(_ key: ThrottleKey, owner: Source?, _ now: Int) -> (failures: Int, hasLocked: Bool) {
        sweep(now)
        if let place = places[key], isOver(place, now) { drop(place) }
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

    /// Takes over what was known before, unless something is known already.
    mutating func restore(_ key: ThrottleKey, owner: Source?, failures: Int, newest: Int, lockEnd: Int?, _ now: Int) {
        guard places[key] == nil else { return }
        makeRoom()
        let slot = rules.slot(newest)
        let place = pool.insert(Record(key: key, owner: owner, failures: .init(since: slot), newest: newest))
        places[key] = place
        pool[place].failures.add(failures, in: slot)
        if let lockEnd { lock(place, failures: failures, until: lockEnd) }
        putIn(place)
    }

    /// Takes note that a key's record is not as it was stored.
    mutating func note(_ key: ThrottleKey) {
        guard isStored else { return }
        if changed.count >= 2 * rules.capacity {
            changed = []
            hasLostTrack = true
        }
        changed.insert(key)
    }

    /// Forgets everything.
    mutating func clearAll() { self = Ledger(rules, isStored: isStored) }

    /// Forgets a key.
    mutating func clear(_ key: ThrottleKey) {
        if let place = places[key] { drop(place) }
    }

    // MARK: Chains

    private mutating func lock(_ place: Int32, failures: Int, until end: Int) {
        pool[place].lockEnd = end
        pool[place].failuresAtLock = failures
    }

    /// A locked record is no longer one of its owner's, so that it is not looked at when room is needed.
    private mutating func putIn(_ place: Int32) {
        guard pool[place].lockEnd == nil else { return pool.append(place, to: &locked, .main) }
        pool.append(place, to: &open, .main)
        let crowd = crowds.grow(pool[place].owner)
        pool[place].crowd = crowd
        pool.append(place, to: &crowds[crowd], .side)
    }

    private mutating func takeOut(_ place: Int32) {
        guard pool[place].lockEnd == nil else { return pool.unlink(place, from: &locked, .main) }
        pool.unlink(place, from: &open, .main)
        let crowd = pool[place].crowd
        pool.unlink(place, from: &crowds[crowd], .side)
        crowds.shrink(crowd)
    }

    private mutating func drop(_ place: Int32) {
        takeOut(place)
        let key = pool[place].key
        places[key] = nil
        note(key)
        pool.remove(place)
    }

    // MARK: Room

    private func isOver(_ place: Int32, _ now: Int) -> Bool {
        if let end = pool[place].lockEnd { return now >= end }
        return pool[place].failures.count(in: rules.slot(now)) == 0
    }

    /// Drops a few of what says nothing any more: more than can be added meanwhile.
    private mutating func sweep(_ now: Int) {
        for _ in 0..<2 where !open.isEmpty && isOver(open.first, now) { drop(open.first) }
        for _ in 0..<2 where !locked.isEmpty && isOver(locked.first, now) { drop(locked.first) }
    }

    private mutating func makeRoom() {
        while pool.count >= max(1, rules.capacity) {
            if let crowd = crowds.largestCrowd {
                drop(crowds[crowd].first)
            } else {
                drop(locked.first)
            }
        }
    }
}

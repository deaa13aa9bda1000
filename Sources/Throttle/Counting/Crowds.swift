// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// Whose records there are most of.
///
/// Owners of the same number of records are chained, so that the largest is found, and one is moved up or down, in
/// constant time.
struct Crowds: Sendable {
    typealias Chain = Pool<Crowd>.Chain

    /// The records of one owner.
    struct Crowd: Sendable {
        let owner: Source?
        var count = 0
        /// The records, the oldest first; a chain of the pool that holds them.
        var records = Pool<Ledger.Record>.Chain()
    }

    private var pool = Pool<Crowd>()
    private var places: [Source?: Int32] = [:]
    private var bySize: [Int: Chain] = [:]
    private var largest = 0

    /// The place of the owner with most records, of several the one that has had so many for the longest time.
    var largestCrowd: Int32? {
        guard largest > 0, let chain = bySize[largest], !chain.isEmpty else { return nil }
        return chain.first
    }

    /// The records of an owner.
    subscript(place: Int32) -> Pool<Ledger.Record>.Chain {
        get { pool[place].records }
        _modify { yield &pool[place].records }
    }

    /// Counts a record more.
    ///
    /// - Returns: The owner's place.
    mutating func grow(_ owner: Source?) -> Int32 {
        let place = places[owner] ?? pool.insert(Crowd(owner: owner))
        places[owner] = place
        move(place, by: 1)
        return place
    }

    /// Counts a record less; an owner without records is gone.
    mutating func shrink(_ place: Int32) {
        move(place, by: -1)
        guard pool[place].count == 0 else { return }
        places[pool[place].owner] = nil
        pool.remove(place)
    }

    private mutating func move(_ place: Int32, by step: Int) {
        let count = pool[place].count
        if count > 0, var chain = bySize[count] {
            pool.unlink(place, from: &chain, .main)
            bySize[count] = chain.isEmpty ? nil : chain
        }
        pool[place].count = count + step
        if count + step > 0 { pool.append(place, to: &bySize[count + step, default: Chain()], .main) }
        if step > 0 {
            largest = max(largest, count + step)
        } else if count == largest, bySize[count] == nil {
            // The one that has just left is now the largest, or there is none.
            largest = count - 1
        }
    }
}

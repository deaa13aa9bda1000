// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// The records of each network, and the network that has most.
///
/// Networks with the same number of records are chained, so that the largest is found, and one is moved up or down, in
/// constant time.
struct RecordsByNetwork: Sendable {
    typealias Chain = LinkedSlots<Group>.Chain

    /// The records of one network.
    struct Group: Sendable {
        let owner: ClientNetwork?
        var count = 0
        /// The records, the oldest first; a chain of the pool that holds them.
        var records = LinkedSlots<FailureTable.Record>.Chain()
    }

    private var pool = LinkedSlots<Group>()
    private var places: [ClientNetwork?: Int32] = [:]
    private var bySize: [Int: Chain] = [:]
    private var largest = 0

    /// The place of the network with most records; of several, the one that reached this number first.
    var largestGroup: Int32? {
        guard largest > 0, let chain = bySize[largest], !chain.isEmpty else { return nil }
        return chain.first
    }

    /// The records of a network.
    subscript(place: Int32) -> LinkedSlots<FailureTable.Record>.Chain {
        get { pool[place].records }
        _modify { yield &pool[place].records }
    }

    /// Adds one to a network's records.
    ///
    /// - Returns: The network's place.
    mutating func grow(_ owner: ClientNetwork?) -> Int32 {
        let place = places[owner] ?? pool.insert(Group(owner: owner))
        places[owner] = place
        move(place, by: 1)
        return place
    }

    /// Takes one from a network's records; a network without records is removed.
    mutating func shrink(_ place: Int32) {
        move(place, by: -1)
        guard pool[place].count == 0 else { return }
        places[pool[place].owner] = nil
        pool.remove(place)
    }

    private mutating func move(_ place: Int32, by step: Int) {
        let count = pool[place].count
        if count > 0, var chain = bySize[count] {
            pool.unlink(place, from: &chain, in: .main)
            bySize[count] = chain.isEmpty ? nil : chain
        }
        pool[place].count = count + step
        if count + step > 0 { pool.append(place, to: &bySize[count + step, default: Chain()], in: .main) }
        if step > 0 {
            largest = max(largest, count + step)
        } else if count == largest, bySize[count] == nil {
            // The network that has just shrunk is now the largest, or there is none.
            largest = count - 1
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The records of each network, and the network with the most records, all in constant time: networks with the same number
/// of records are in one list.
struct RecordsByNetwork: Sendable {
    typealias List = LinkedListPool<NetworkRecords>.List

    /// The records of one network.
    struct NetworkRecords: Sendable {
        let owner: ClientNetwork?
        var count = 0
        /// The records in the pool of the failure table, the oldest first.
        var records = LinkedListPool<FailureTable.Record>.List()
    }

    private var pool = LinkedListPool<NetworkRecords>()
    private var indexByNetwork: [ClientNetwork?: Int32] = [:]
    private var networksByCount: [Int: List] = [:]
    private var largest = 0

    /// The index of the network with the most records; of several ones, the first to reach that number.
    var largestNetwork: Int32? {
        guard largest > 0, let list = networksByCount[largest], !list.isEmpty else { return nil }
        return list.first
    }

    subscript(index: Int32) -> LinkedListPool<FailureTable.Record>.List {
        get { pool[index].records }
        _modify { yield &pool[index].records }
    }

    /// Adds 1 to the number of records of a network, and returns its index.
    mutating func increment(_ owner: ClientNetwork?) -> Int32 {
        let index = indexByNetwork[owner] ?? pool.insert(NetworkRecords(owner: owner))
        indexByNetwork[owner] = index
        move(index, by: 1)
        return index
    }

    /// Subtracts 1 from the number of records of a network; one without records is removed.
    mutating func decrement(_ index: Int32) {
        move(index, by: -1)
        guard pool[index].count == 0 else { return }
        indexByNetwork[pool[index].owner] = nil
        pool.remove(index)
    }

    private mutating func move(_ index: Int32, by step: Int) {
        let count = pool[index].count
        if count > 0, var list = networksByCount[count] {
            pool.unlink(index, from: &list, in: .main)
            networksByCount[count] = list.isEmpty ? nil : list
        }
        pool[index].count = count + step
        if count + step > 0 { pool.append(index, to: &networksByCount[count + step, default: List()], in: .main) }
        if step > 0 {
            largest = max(largest, count + step)
        } else if count == largest, networksByCount[count] == nil {
            // No network has `count` records any more; the changed one has `count - 1`.
            largest = count - 1
        }
    }
}

/// An array whose elements are in two doubly linked lists each, a main list and a side list.
///
/// The links are indices of the array, so they need no reference counting. The index of a removed element is reused.
struct LinkedListPool<Element: Sendable>: Sendable {
    private struct Links {
        var previous: Int32 = -1
        var next: Int32 = -1
    }

    private struct Node {
        var element: Element
        var links = InlineArray<2, Links>(repeating: Links())
    }

    /// The ends of a list.
    struct List: Sendable {
        fileprivate(set) var first: Int32 = -1
        fileprivate var last: Int32 = -1

        var isEmpty: Bool { first < 0 }
    }

    enum ListKind: Int {
        case main = 0
        case side = 1
    }

    private var nodes: [Node] = []
    private var free: [Int32] = []

    var count: Int { nodes.count - free.count }

    subscript(index: Int32) -> Element {
        get { nodes[Int(index)].element }
        _modify { yield &nodes[Int(index)].element }
    }

    mutating func insert(_ element: Element) -> Int32 {
        if let index = free.popLast() {
            nodes[Int(index)] = Node(element: element)
            return index
        }
        nodes.append(Node(element: element))
        return Int32(nodes.count - 1)
    }

    /// Removes an element that is in no list.
    mutating func remove(_ index: Int32) { free.append(index) }

    /// Returns the element after an element of a list; -1 at the end of the list.
    func next(after index: Int32, in kind: ListKind) -> Int32 { nodes[Int(index)].links[kind.rawValue].next }

    mutating func append(_ index: Int32, to list: inout List, in kind: ListKind) {
        nodes[Int(index)].links[kind.rawValue] = Links(previous: list.last, next: -1)
        if list.last >= 0 { nodes[Int(list.last)].links[kind.rawValue].next = index } else { list.first = index }
        list.last = index
    }

    mutating func unlink(_ index: Int32, from list: inout List, in kind: ListKind) {
        let links = nodes[Int(index)].links[kind.rawValue]
        if links.previous >= 0 {
            nodes[Int(links.previous)].links[kind.rawValue].next = links.next
        } else {
            list.first = links.next
        }
        if links.next >= 0 {
            nodes[Int(links.next)].links[kind.rawValue].previous = links.previous
        } else {
            list.last = links.previous
        }
    }
}

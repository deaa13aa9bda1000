// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Elements in chains: each is in up to two of them, and is removed from the middle of one in constant time.
///
/// Places are numbers, so that there are no references to count. A place that is removed is used again.
struct LinkedSlots<Element: Sendable>: Sendable {
    private struct Links {
        var previous: Int32 = -1
        var next: Int32 = -1
    }

    private struct Node {
        var element: Element
        var links = InlineArray<2, Links>(repeating: Links())
    }

    /// The ends of a chain.
    struct Chain: Sendable {
        fileprivate(set) var first: Int32 = -1
        fileprivate var last: Int32 = -1

        var isEmpty: Bool { first < 0 }
    }

    /// One of the two chains of an element.
    enum Lane: Int {
        case main = 0
        case side = 1
    }

    private var nodes: [Node] = []
    private var free: [Int32] = []

    /// The number of elements.
    var count: Int { nodes.count - free.count }

    subscript(place: Int32) -> Element {
        get { nodes[Int(place)].element }
        _modify { yield &nodes[Int(place)].element }
    }

    mutating func insert(_ element: Element) -> Int32 {
        if let place = free.popLast() {
            nodes[Int(place)] = Node(element: element)
            return place
        }
        nodes.append(Node(element: element))
        return Int32(nodes.count - 1)
    }

    /// Removes an element that is in no chain.
    mutating func remove(_ place: Int32) { free.append(place) }

    mutating func append(_ place: Int32, to chain: inout Chain, in lane: Lane) {
        nodes[Int(place)].links[lane.rawValue] = Links(previous: chain.last, next: -1)
        if chain.last >= 0 { nodes[Int(chain.last)].links[lane.rawValue].next = place } else { chain.first = place }
        chain.last = place
    }

    mutating func unlink(_ place: Int32, from chain: inout Chain, in lane: Lane) {
        let links = nodes[Int(place)].links[lane.rawValue]
        if links.previous >= 0 {
            nodes[Int(links.previous)].links[lane.rawValue].next = links.next
        } else {
            chain.first = links.next
        }
        if links.next >= 0 {
            nodes[Int(links.next)].links[lane.rawValue].previous = links.previous
        } else {
            chain.last = links.previous
        }
    }
}

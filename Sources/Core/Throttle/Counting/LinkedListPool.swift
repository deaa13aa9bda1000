// SPDX-License-Identifier: Apache-2.0

/// An array whose elements are in doubly linked lists.
///
/// An element can be in two lists: a main list and a side list. It can be removed from the middle of a list in constant
/// time. The links are indices of the array, so they need no reference counting. The index of a removed element is
/// reused.
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

    /// The kind of a list.
    enum ListKind: Int {
        case main = 0
        case side = 1
    }

    private var nodes: [Node] = []
    private var free: [Int32] = []

    /// The number of elements.
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

    /// Removes an element.
    ///
    /// Unlink it from its lists first.
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

// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// Different numbers in the order in which they were added.
///
/// The average time of each operation does not grow with the number of entries. A number that is removed from the middle
/// stays in the deque until it is the first or the last one, or until half of the deque are such numbers.
struct NumberQueue: Sendable {
    /// The numbers; the first one and the last one are not removed.
    private var numbers: Deque<UInt64> = []
    /// The removed ones of these.
    private var removed: Set<UInt64> = []

    var isEmpty: Bool { numbers.isEmpty }

    var count: Int { numbers.count - removed.count }

    var first: UInt64? { numbers.first }

    var last: UInt64? { numbers.last }

    /// Adds a number, which must not be in the queue, nor have been removed from it.
    mutating func append(_ number: UInt64) { numbers.append(number) }

    /// Removes the first number.
    mutating func popFirst() -> UInt64? {
        let first = numbers.popFirst()
        dropRemovedEnds()
        return first
    }

    /// Removes a number, which must be in the queue.
    mutating func remove(_ number: UInt64) {
        if number == numbers.first {
            numbers.removeFirst()
        } else if number == numbers.last {
            numbers.removeLast()
        } else {
            removed.insert(number)
        }
        dropRemovedEnds()
        guard removed.count > numbers.count / 2 else { return }
        numbers.removeAll { removed.contains($0) }
        removed = []
    }

    private mutating func dropRemovedEnds() {
        while !removed.isEmpty, let first = numbers.first, removed.remove(first) != nil { numbers.removeFirst() }
        while !removed.isEmpty, let last = numbers.last, removed.remove(last) != nil { numbers.removeLast() }
    }
}

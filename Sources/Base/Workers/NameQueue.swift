// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// Names in the order in which they were added.
///
/// The average time of each operation does not grow with the number of names.
struct NameQueue: Sendable {
    private var names: [UInt64: UTF8Text] = [:]
    private var order = NumberQueue()
    private var lastPlace: UInt64 = 0

    var isEmpty: Bool { order.isEmpty }

    /// Adds a name.
    ///
    /// - Parameter name: The name.
    /// - Returns: The place of the name, for ``remove(_:)``.
    mutating func append(_ name: UTF8Text) -> UInt64 {
        lastPlace += 1
        names[lastPlace] = name
        order.append(lastPlace)
        return lastPlace
    }

    /// Removes the first name.
    mutating func popFirst() -> UTF8Text? { order.popFirst().flatMap { names.removeValue(forKey: $0) } }

    /// Removes the name at a place; does nothing if it is not in the queue.
    mutating func remove(_ place: UInt64) {
        if names.removeValue(forKey: place) != nil { order.remove(place) }
    }
}

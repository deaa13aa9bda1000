// SPDX-License-Identifier: Apache-2.0

package import Bytes

/// Counts values in a limited number of counters.
///
/// Clients choose user names and may change their addresses, so the number of values has no limit. If there are more
/// values than counters, the counts are too low by ``error`` at most, and the most frequent values are kept (Misra and
/// Gries, 1982).
package struct FrequencyTable<Value: Hashable & Sendable>: Sendable {
    private let capacity: Int
    private var counts: [Value: Int] = [:]
    /// The number by which each count may be too low.
    package private(set) var error = 0

    /// Creates a table.
    ///
    /// - Parameter capacity: The number of counters.
    package init(capacity: Int) { self.capacity = capacity }

    /// Counts a value.
    package mutating func count(_ value: Value) {
        guard counts[value] == nil, counts.count >= capacity else {
            counts[value, default: 0] += 1
            return
        }
        // The present value and all others lose one. This happens once for at least `capacity` values that were counted.
        error += 1
        counts = counts.compactMapValues { $0 > 1 ? $0 - 1 : nil }
    }

    /// Returns the most frequent values, the most frequent first, and values with the same count by their texts.
    ///
    /// A value whose count is not above ``error`` is left out, because it may be less frequent than values without a counter.
    ///
    /// - Parameters:
    ///   - number: The number of values.
    ///   - text: Returns the text of a value.
    /// - Returns: The texts and the counts.
    package func mostFrequent(_ number: Int, text: (Value) -> UTF8Text) -> [(value: Value, count: Int)] {
        counts.filter { $0.value > error }.sorted {
            guard $0.value == $1.value else { return $0.value > $1.value }
            return text($0.key).string.utf8.lexicographicallyPrecedes(text($1.key).string.utf8)
        }.prefix(number).map { ($0.key, $0.value) }
    }
}

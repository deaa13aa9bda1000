// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import DequeModule

/// What waits, in a line for each source; the sources take turns.
struct TurnQueue: Sendable {
    private var lines: [String: Deque<UInt64>] = [:]
    private var turns: Deque<String> = []
    /// How many wait.
    private(set) var count = 0

    /// How many of a source wait.
    func count(of source: String) -> Int { lines[source]?.count ?? 0 }

    /// Those that are first in their source's line.
    var heads: [UInt64] { turns.compactMap { lines[$0]?.first } }

    /// The source with most waiting; nil if nobody waits.
    var longest: (source: String, count: Int)? {
        var longest: (source: String, count: Int)?
        for source in turns {
            let count = count(of: source)
            if count > longest?.count ?? 0 { longest = (source, count) }
        }
        return longest
    }

    func oldest(of source: String) -> UInt64? { lines[source]?.first }

    func newest(of source: String) -> UInt64? { lines[source]?.last }

    /// Whose turn it is; stays in its line.
    var next: UInt64? { turns.first.flatMap { lines[$0]?.first } }

    mutating func append(_ number: UInt64, of source: String) {
        if lines[source, default: []].isEmpty { turns.append(source) }
        lines[source, default: []].append(number)
        count += 1
    }

    /// Takes the one whose turn it is; its source is the last to have another one.
    mutating func takeNext() -> UInt64? {
        guard let source = turns.popFirst(), let number = lines[source]?.popFirst() else { return nil }
        count -= 1
        if lines[source]?.isEmpty == true { lines[source] = nil } else { turns.append(source) }
        return number
    }

    /// Takes one out of its line; false if it is in none.
    mutating func remove(_ number: UInt64, of source: String) -> Bool {
        guard let place = lines[source]?.firstIndex(of: number) else { return false }
        lines[source]?.remove(at: place)
        count -= 1
        if lines[source]?.isEmpty == true {
            lines[source] = nil
            turns.removeAll { $0 == source }
        }
        return true
    }
}

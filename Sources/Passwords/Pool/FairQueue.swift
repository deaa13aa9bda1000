// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import DequeModule

/// The waiting jobs, in a line for each source; the sources take turns.
struct FairQueue: Sendable {
    private var lines: [String: Deque<UInt64>] = [:]
    private var turns: Deque<String> = []
    /// The number of waiting jobs.
    private(set) var count = 0

    /// Returns the number of waiting jobs of a source.
    func count(of source: String) -> Int { lines[source]?.count ?? 0 }

    /// The first job of each source.
    var heads: [UInt64] { turns.compactMap { lines[$0]?.first } }

    /// The source with the most waiting jobs; nil if none waits.
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

    /// The job whose turn it is; it stays in its line.
    var next: UInt64? { turns.first.flatMap { lines[$0]?.first } }

    mutating func append(_ number: UInt64, of source: String) {
        if lines[source, default: []].isEmpty { turns.append(source) }
        lines[source, default: []].append(number)
        count += 1
    }

    /// Removes the job whose turn it is; its source goes to the end of the turns.
    mutating func takeNext() -> UInt64? {
        guard let source = turns.popFirst(), let number = lines[source]?.popFirst() else { return nil }
        count -= 1
        if lines[source]?.isEmpty == true { lines[source] = nil } else { turns.append(source) }
        return number
    }

    /// Removes a job from its line; false if it is in none.
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

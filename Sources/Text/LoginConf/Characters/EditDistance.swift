// SPDX-License-Identifier: Apache-2.0

/// The number of typing mistakes between two names.
enum EditDistance {
    /// Returns the edit distance of two names (optimal string alignment).
    ///
    /// An edit changes, adds or removes one byte, or swaps two adjacent bytes.
    static func between(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var older: [Int] = []
        var row = Array(0...second.count)
        for i in first.indices {
            var next = [i + 1]
            next.reserveCapacity(second.count + 1)
            for j in second.indices {
                var cost = min(row[j + 1], next[j]) + 1
                cost = min(cost, row[j] + (first[i] == second[j] ? 0 : 1))
                if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                    cost = min(cost, older[j - 1] + 1)
                }
                next.append(cost)
            }
            older = row
            row = next
        }
        return row[second.count]
    }
}

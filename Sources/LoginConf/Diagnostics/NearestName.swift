// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A search for the known name that a misspelled one probably means.
public enum NearestName {
    /// Returns the known name nearest to a misspelled one.
    ///
    /// The same letters in another case have precedence; then the same part after the last dot (of a class name); then
    /// the fewest letters changed, left out, added or swapped, at most a third of the name and at most three. The first
    /// of several equal ones is returned. Names of more than 128 bytes are not compared.
    ///
    /// - Parameters:
    ///   - name: The misspelled name.
    ///   - candidates: The known names.
    /// - Returns: One of the candidates; nil if none is near.
    public static func suggest(_ name: String, among candidates: [String]) -> String? {
        let wanted = Spelling(name)
        guard !wanted.whole.isEmpty, wanted.whole.count <= Spelling.limit else { return nil }
        let known = candidates.map { (name: $0, spelling: Spelling($0)) }
        if let same = known.first(where: { $0.spelling.whole == wanted.whole }) { return same.name }
        if let same = known.first(where: { $0.spelling.last == wanted.last }) { return same.name }

        var best: (name: String, distance: Int)?
        for candidate in known {
            let distance = candidate.spelling.distance(to: wanted)
            if distance <= wanted.bound, distance < best?.distance ?? .max { best = (candidate.name, distance) }
        }
        return best?.name
    }
}

/// A name in the form in which it is compared: in lower case, whole and from the last dot on.
private struct Spelling {
    static let limit = 128

    let whole: [UInt8]
    let last: ArraySlice<UInt8>

    init(_ name: String) {
        let whole = name.utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
        self.whole = whole
        let afterDot = whole.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? 0
        last = afterDot < whole.count ? whole[afterDot...] : whole[...]
    }

    var bound: Int { min(3, max(1, last.count / 3)) }

    func distance(to other: Spelling) -> Int {
        guard whole.count <= Self.limit else { return .max }
        return min(Self.distance(whole, other.whole), Self.distance(Array(last), Array(other.last)))
    }

    /// Returns the number of single-byte edits and swaps of neighbours between two names (optimal string alignment).
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var older: [Int] = []
        var row = Array(0...other.count)
        for i in one.indices {
            var next = [i + 1]
            next.reserveCapacity(other.count + 1)
            for j in other.indices {
                var cost = min(row[j + 1], next[j]) + 1
                cost = min(cost, row[j] + (one[i] == other[j] ? 0 : 1))
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] { cost = min(cost, older[j - 1] + 1) }
                next.append(cost)
            }
            older = row
            row = next
        }
        return row[other.count]
    }
}

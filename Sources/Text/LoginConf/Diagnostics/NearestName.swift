// SPDX-License-Identifier: Apache-2.0

/// Finds the known name that a misspelled name probably means.
public enum NearestName {
    /// Returns the known name that is most similar to a misspelled name.
    ///
    /// The order of preference is:
    /// 1. a name that differs only in case;
    /// 2. a class name with the same part after the last dot;
    /// 3. the name with the smallest edit distance, which is at most three and at most a third of the name's length.
    ///
    /// If two names are equally similar, the first one is returned. Names of more than 128 bytes are not compared.
    ///
    /// - Parameters:
    ///   - name: The misspelled name.
    ///   - candidates: The known names.
    /// - Returns: One of the candidates; nil if no candidate is similar.
    public static func suggest(_ name: String, among candidates: [String]) -> String? {
        let wanted = Spelling(name)
        guard !wanted.whole.isEmpty, wanted.whole.count <= Spelling.maximumLength else { return nil }
        let known = candidates.map { (name: $0, spelling: Spelling($0)) }
        if let same = known.first(where: { $0.spelling.whole == wanted.whole }) { return same.name }
        if let same = known.first(where: { $0.spelling.lastComponent == wanted.lastComponent }) { return same.name }

        var best: (name: String, distance: Int)?
        for candidate in known {
            let distance = candidate.spelling.distance(to: wanted)
            if distance <= wanted.maximumDistance, distance < best?.distance ?? .max {
                best = (candidate.name, distance)
            }
        }
        return best?.name
    }
}

/// A name in lower case, and its part after the last dot.
private struct Spelling {
    static let maximumLength = 128

    let whole: [UInt8]
    let lastComponent: ArraySlice<UInt8>

    init(_ name: String) {
        let whole = name.utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
        self.whole = whole
        let afterDot = whole.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? 0
        lastComponent = afterDot < whole.count ? whole[afterDot...] : whole[...]
    }

    var maximumDistance: Int { min(3, max(1, lastComponent.count / 3)) }

    func distance(to other: Spelling) -> Int {
        guard whole.count <= Self.maximumLength else { return .max }
        return min(
            EditDistance.between(whole, other.whole),
            EditDistance.between(Array(lastComponent), Array(other.lastComponent))
        )
    }
}

enum EditDistance {
    /// Returns the edit distance of two names (optimal string alignment): an edit changes, adds or removes one byte, or swaps
    /// two adjacent bytes.
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

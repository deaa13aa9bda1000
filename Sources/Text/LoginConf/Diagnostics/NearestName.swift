// SPDX-License-Identifier: Apache-2.0

/// Finds the known name that a misspelled name probably means.
public struct NearestName: Sendable {
    private let known: [Spelling]

    init(among names: some Sequence<String>) { known = names.map { Spelling($0) } }

    /// Returns the known name that is most similar to a misspelled name.
    ///
    /// The order of preference is:
    /// 1. a name that differs only in case;
    /// 2. a class name with the same part after the last dot;
    /// 3. the name with the smallest edit distance, which is at most three and at most a third of the name's length.
    ///
    /// If two names are equally similar, the first one is returned; if none is similar, nil. Names of more than 128 bytes
    /// are not compared.
    public static func suggest(_ name: String, among candidates: [String]) -> String? {
        NearestName(among: candidates).suggest(name)
    }

    /// Returns the known name that is most similar; see ``suggest(_:among:)``.
    func suggest(_ name: String) -> String? {
        guard (1...Spelling.maximumLength).contains(name.utf8.count) else { return nil }
        let wanted = Spelling(name)
        if let same = known.first(where: { $0.whole == wanted.whole }) { return same.name }
        if let same = known.first(where: { $0.lastPart == wanted.lastPart }) { return same.name }
        var best: (name: String, distance: Int)?
        for candidate in known {
            let limit = best.map { $0.distance - 1 } ?? min(3, max(1, wanted.lastPart.count / 3))
            guard let distance = candidate.distance(to: wanted, limit: limit) else { continue }
            best = (candidate.name, distance)
        }
        return best?.name
    }
}

/// A name in lower case, and its part after the last dot.
private struct Spelling {
    static let maximumLength = 128

    let name: String
    let whole: [UInt8]
    let lastPart: [UInt8]

    init(_ name: String) {
        self.name = name
        whole = name.utf8.map(\.lowercased)
        let afterDot = whole.lastIndex(of: .dot).map { $0 + 1 } ?? 0
        lastPart = afterDot < whole.count ? Array(whole[afterDot...]) : whole
    }

    /// Returns the edit distance of the names or of their last parts; nil if it is more than a limit.
    func distance(to other: Spelling, limit: Int) -> Int? {
        guard whole.count <= Self.maximumLength else { return nil }
        return [(whole, other.whole), (lastPart, other.lastPart)].compactMap { one, two in
            // This leaves most names out, and there may be hundreds of them.
            abs(one.count - two.count) > limit ? nil : Self.editDistance(one, two)
        }.filter { $0 <= limit }.min()
    }

    /// Returns the edit distance (optimal string alignment): an edit changes, adds or removes one byte, or swaps two
    /// adjacent bytes.
    private static func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var older: [Int] = []
        var row = Array(0...second.count)
        for i in first.indices {
            var next = [i + 1]
            for j in second.indices {
                var cost = min(row[j + 1], next[j]) + 1
                cost = min(cost, row[j] + (first[i] == second[j] ? 0 : 1))
                if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                    cost = min(cost, older[j - 1] + 1)
                }
                next.append(cost)
            }
            (older, row) = (row, next)
        }
        return row[second.count]
    }
}

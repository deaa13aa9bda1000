// SPDX-License-Identifier: Apache-2.0

import SeededRandom

/// Makes damaged texts by small random changes of valid texts.
struct Mutator {
    let corpus: [[UInt8]]
    let pieces: [[UInt8]]
    var random: Random

    init(corpus: [String], pieces: [String], seed: UInt64) {
        self.corpus = corpus.map { Array($0.utf8) }.filter { $0.count < 2000 }
        self.pieces = pieces.map { Array($0.utf8) }
        random = Random(seed: seed)
    }

    mutating func next() -> [UInt8] {
        var text = random.pick(corpus)
        for _ in 0...random.below(3) { mutate(&text) }
        return text
    }

    private mutating func mutate(_ text: inout [UInt8]) {
        let place = random.below(3) == 0 ? random.below(text.count + 1) : boundary(in: text)
        let end = min(text.count, place + random.below(12))
        switch random.below(8) {
        case 0: if place < text.count { text[place] = UInt8(truncatingIfNeeded: random.next()) }
        case 1: if place < text.count { text[place] ^= 1 << UInt8(random.below(8)) }
        case 2, 3: text.insert(contentsOf: random.pick(pieces), at: place)
        case 4: text.removeSubrange(place..<end)
        case 5: text.insert(contentsOf: Array(text[place..<end]), at: place)
        case 6:
            let other = random.pick(corpus)
            let start = random.below(other.count + 1)
            let stop = min(other.count, start + random.below(40))
            text.replaceSubrange(place..<end, with: other[start..<stop])
        default:
            text.replaceSubrange(place..<end, with: random.pick(pieces))
        }
    }

    /// Returns an offset where a token may begin or end; damage there often gives a valid text.
    private mutating func boundary(in text: [UInt8]) -> Int {
        let isSeparator = { (byte: UInt8) in byte <= 0x20 || "{};=\"".utf8.contains(byte) }
        let places = text.indices.filter { isSeparator(text[$0]) }
        return places.isEmpty ? 0 : random.pick(places) + random.below(2)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Bytes
import SeededRandom
import Testing

@testable import Workers

struct NumberQueueTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `numbers keep their order, whatever is removed`(seed: UInt64) {
        var random = Random(seed: seed)
        var (queue, expected): (NumberQueue, [UInt64]) = (NumberQueue(), [])
        for number in UInt64(1)...2_000 {
            switch random.below(5) {
            case 0...2:
                queue.append(number)
                expected.append(number)
            case 3:
                #expect(queue.popFirst() == (expected.isEmpty ? nil : expected.removeFirst()))
            default:
                guard !expected.isEmpty else { break }
                queue.remove(expected.remove(at: random.below(expected.count)))
            }
            #expect(queue.count == expected.count)
            #expect(queue.isEmpty == expected.isEmpty)
            #expect(queue.first == expected.first)
            #expect(queue.last == expected.last)
        }
    }

    @Test func `names keep their order, and a place is removed only once`() {
        var queue = NameQueue()
        let places = (["a", "b", "a", "c"] as [UTF8Text]).map { queue.append($0) }
        queue.remove(places[0])
        queue.remove(places[0])
        queue.remove(places[3])
        #expect([queue.popFirst(), queue.popFirst(), queue.popFirst()] == ["b", "a", nil])
        #expect(queue.isEmpty)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `the ranking has the names with the most jobs, in the order in which they have come to this number`(
        seed: UInt64
    ) {
        var random = Random(seed: seed)
        var ranking = Ranking()
        var expected: [(name: UTF8Text, count: Int)] = []
        for _ in 1...2_000 {
            let name = UTF8Text("name\(random.below(5))")
            let place = expected.firstIndex { $0.name == name }
            let old = place.map { expected.remove(at: $0).count } ?? 0
            let isAdded = old == 0 || random.below(2) == 0
            isAdded ? ranking.add(name) : ranking.remove(name)
            let count = old + (isAdded ? 1 : -1)
            if count > 0 { expected.append((name, count)) }
            let most = expected.map(\.count).max() ?? 0
            #expect(ranking.maximum == most)
            #expect(ranking.count(of: name) == count)
            #expect(ranking.first == expected.first { $0.count == most }?.name)
            #expect(ranking.last == expected.last { $0.count == most }?.name)
            #expect(ranking.isEmpty == expected.isEmpty)
        }
    }
}

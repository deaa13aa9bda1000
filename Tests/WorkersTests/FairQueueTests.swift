// SPDX-License-Identifier: Apache-2.0

import Testing
import Workers

@Suite struct FairQueueTests {
    @Test func `sources take turns, however many jobs of one source wait`() {
        var queue = FairQueue()
        for number in 1...100 { queue.append(UInt64(number), of: "flood") }
        queue.append(200, of: "ann")
        queue.append(300, of: "zed")
        queue.append(201, of: "ann")
        let taken = (1...6).compactMap { _ in queue.takeNext() }
        #expect(taken == [1, 200, 300, 2, 201, 3])
        #expect(queue.count == 97)
    }

    @Test func `a removed job is not returned, and a source without jobs is skipped`() {
        var queue = FairQueue()
        queue.append(1, of: "a")
        queue.append(2, of: "b")
        queue.append(3, of: "a")
        let removed = [queue.remove(1, of: "a"), queue.remove(1, of: "a"), queue.remove(2, of: "b")]
        #expect(removed == [true, false, true])
        let taken = [queue.takeNext(), queue.takeNext()]
        #expect(taken == [3, nil])
        #expect(queue.count == 0)
        queue.append(4, of: "b")
        let last = queue.takeNext()
        #expect(last == 4)
    }

    @Test func `the queue returns the source with the most jobs, and its oldest and newest job`() {
        var queue = FairQueue()
        #expect(queue.longest == nil)
        queue.append(1, of: "a")
        queue.append(2, of: "b")
        queue.append(3, of: "b")
        #expect(queue.longest?.source == "b")
        #expect(queue.longest?.count == 2)
        #expect(queue.oldest(of: "b") == 2)
        #expect(queue.newest(of: "b") == 3)
        #expect(queue.firstJobs.sorted() == [1, 2])
    }
}

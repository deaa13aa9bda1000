// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import Testing

@testable import HelperProcesses

struct HelperQueueTests {
    @Test func `a source that holds as much as it may misses its turn`() {
        var queue = HelperQueue(limit: 1)
        for number in UInt64(1)...3 { queue.append(number, of: "flood") }
        queue.append(4, of: "ann")
        queue.append(5, of: "bob")
        #expect(queue.takeNext() == 1)
        #expect(queue.takeNext() == 4)
        #expect(queue.takeNext() == 5)
        #expect(queue.takeNext() == nil)
        queue.end(of: "flood")
        #expect(queue.takeNext() == 2)
        #expect(queue.takeNext() == nil)
        queue.remove(3, of: "flood")
        queue.end(of: "flood")
        #expect(queue.takeNext() == nil)
        #expect(queue.count == 0)
    }

    @Test func `a request of another source finds a free slot although the queue is full`() {
        var queue = HelperQueue(limit: 1)
        queue.append(1, of: "flood")
        #expect(queue.takeNext() == 1)
        #expect(queue.isFull(for: "flood", limit: 0, free: 1))
        #expect(!queue.isFull(for: "flood", limit: 1, free: 1))
        queue.append(2, of: "flood")
        #expect(queue.isFull(for: "flood", limit: 1, free: 1))
        #expect(!queue.isFull(for: "ann", limit: 1, free: 1))
        #expect(queue.isFull(for: "ann", limit: 1, free: 0))
    }
}

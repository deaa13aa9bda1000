// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Bytes
import Slots
import Testing

struct LimitedQueueTests {
    private static func queue(slots: Int = 2) -> LimitedQueue { LimitedQueue(slots: slots, unlimitedSource: "local") }

    private static func owner(_ source: String, _ account: String? = nil) -> JobOwner {
        JobOwner(source: source, account: account)
    }

    @Test func `a source that holds as much as it may misses its turn`() {
        var queue = Self.queue()
        for number in UInt64(1)...3 { queue.append(number, of: Self.owner("flood")) }
        queue.append(4, of: Self.owner("ann"))
        queue.append(5, of: Self.owner("bob"))
        #expect(queue.takeNext() == 1)
        #expect(queue.takeNext() == 4)
        #expect(queue.takeNext() == 5)
        #expect(queue.takeNext() == nil)
        queue.end(of: Self.owner("flood"))
        #expect(queue.takeNext() == 2)
        #expect(queue.takeNext() == nil)
        queue.remove(3, of: Self.owner("flood"))
        queue.end(of: Self.owner("flood"))
        #expect(queue.takeNext() == nil)
        #expect(queue.count == 0)
    }

    @Test func `a job of another source finds a free slot although the queue is full`() {
        var queue = Self.queue()
        queue.append(1, of: Self.owner("flood"))
        #expect(queue.takeNext() == 1)
        #expect(queue.isFull(for: Self.owner("flood"), limit: 0, free: 1))
        #expect(!queue.isFull(for: Self.owner("flood"), limit: 1, free: 1))
        queue.append(2, of: Self.owner("flood"))
        #expect(queue.isFull(for: Self.owner("flood"), limit: 1, free: 1))
        #expect(!queue.isFull(for: Self.owner("ann"), limit: 1, free: 1))
        #expect(queue.isFull(for: Self.owner("ann"), limit: 1, free: 0))
    }

    @Test func `the logins of one user from many sources hold half of the slots, and the others pass them`() {
        var queue = Self.queue(slots: 4)
        for number in UInt64(1)...4 { queue.append(number, of: Self.owner("source\(number)", "ann")) }
        queue.append(5, of: Self.owner("source1", "bob"))
        #expect(queue.takeNext() == 1)
        #expect(queue.takeNext() == 2)
        // The user's other logins wait; another user of the same source does not.
        #expect(queue.takeNext() == 5)
        #expect(queue.takeNext() == nil)
        #expect(!queue.canRun(Self.owner("elsewhere", "ann")))
        #expect(queue.canRun(Self.owner("elsewhere", "carol")))
        #expect(!queue.canRun(Self.owner("local", "ann")))
        #expect(queue.isFull(for: Self.owner("elsewhere", "ann"), limit: 2, free: 1))
        #expect(!queue.isFull(for: Self.owner("elsewhere", "carol"), limit: 2, free: 1))
        queue.end(of: Self.owner("source2", "ann"))
        #expect(queue.takeNext() == 3)
        #expect(queue.takeNext() == nil)
        queue.remove(4, of: Self.owner("source4", "ann"))
        #expect(queue.count == 0)
    }

    @Test func `waiting jobs that a free slot takes do not count for the limit, those of a busy user do`() {
        var queue = Self.queue(slots: 4)
        for number in UInt64(1)...3 { queue.append(number, of: Self.owner("source\(number)", "ann")) }
        // Two of the three can run; the place of the third is taken.
        #expect(queue.isFull(for: Self.owner("source4", "ann"), limit: 1, free: 4))
        #expect(!queue.isFull(for: Self.owner("source4", "ann"), limit: 2, free: 4))
        #expect(!queue.isFull(for: Self.owner("source4", "bob"), limit: 1, free: 4))
        #expect(queue.isFull(for: Self.owner("source4", "bob"), limit: 1, free: 2))
    }

    @Test func `a source without limits may hold all slots`() {
        var queue = Self.queue(slots: 2)
        for number in UInt64(1)...3 { queue.append(number, of: Self.owner("local", "user\(number)")) }
        #expect((0..<3).map { _ in queue.takeNext() } == [1, 2, 3])
    }

    @Test func `no queue holds more running jobs of a source or a user than half of the slots, whatever is queued`() {
        var random = SystemRandomNumberGenerator()
        var queue = Self.queue(slots: 6)
        var owners: [UInt64: JobOwner] = [:]
        var (waiting, running): (Set<UInt64>, Set<UInt64>) = ([], [])
        for number in UInt64(1)...20_000 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let owner = Self.owner(
                    "source\(Int.random(in: 0..<4, using: &random))",
                    Bool.random(using: &random) ? "user\(Int.random(in: 0..<4, using: &random))" : nil
                )
                owners[number] = owner
                waiting.insert(number)
                queue.append(number, of: owner)
            case 2:
                guard running.count < 6 else { continue }
                let mayRun = waiting.contains { queue.canRun(owners[$0] ?? Self.owner("")) }
                let next = queue.takeNext()
                #expect((next != nil) == mayRun)
                guard let next else { continue }
                #expect(waiting.remove(next) != nil)
                running.insert(next)
            default:
                guard let ended = running.randomElement(using: &random), let owner = owners[ended] else { continue }
                running.remove(ended)
                queue.end(of: owner)
            }
            #expect(queue.count == waiting.count)
            let bySource = Dictionary(grouping: running) { owners[$0]?.source ?? "" }
            #expect(bySource.values.allSatisfy { $0.count <= 3 })
            let byAccount = Dictionary(grouping: running.filter { owners[$0]?.account != nil }) { owners[$0]?.account }
            #expect(byAccount.values.allSatisfy { $0.count <= 3 })
        }
    }
}

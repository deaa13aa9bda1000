// SPDX-License-Identifier: Apache-2.0

import Bytes
import SeededRandom
import TestTools
import Testing

@testable import Workers

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
        queue.remove(3)
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
        queue.remove(4)
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

    @Test func `one source holds half of what a user may hold, so that the user can sign in from elsewhere`() {
        var queue = Self.queue(slots: 8)
        for number in UInt64(1)...6 { queue.append(number, of: Self.owner("attacker", "ann")) }
        queue.append(7, of: Self.owner("attacker", "bob"))
        #expect((0..<3).map { _ in queue.takeNext() } == [1, 2, 7])
        #expect(queue.takeNext() == nil)
        #expect(!queue.canRun(Self.owner("attacker", "ann")))
        #expect(queue.canRun(Self.owner("home", "ann")))
        queue.append(8, of: Self.owner("home", "ann"))
        #expect(queue.takeNext() == 8)
        queue.end(of: Self.owner("attacker", "ann"))
        #expect(queue.takeNext() == 3)
    }

    @Test func `the end of one job lets two jobs run, one of the same source and one of the same user`() {
        var queue = Self.queue(slots: 2)
        queue.begin(Self.owner("a", "x"))
        queue.append(1, of: Self.owner("a", "y"))
        queue.append(2, of: Self.owner("b", "x"))
        #expect(queue.runnable == 0)
        queue.end(of: Self.owner("a", "x"))
        #expect(queue.runnable == 2)
        #expect([queue.takeNext(), queue.takeNext()] == [1, 2])
    }

    @Test func `a job that is removed gives its place to another job of the same user`() {
        var queue = Self.queue(slots: 2)
        queue.begin(Self.owner("busy", nil))
        queue.append(1, of: Self.owner("busy", "ann"))
        queue.append(2, of: Self.owner("home", "ann"))
        #expect(queue.runnable == 0)
        queue.remove(1)
        #expect(queue.takeNext() == 2)
        #expect(queue.count == 0)
    }

    @Test func `the source or the user with the most waiting jobs loses one when the queue is full`() {
        var queue = Self.queue(slots: 2)
        #expect(queue.jobToReject(for: Self.owner("new"), cancelsOldest: true) == nil)
        for number in UInt64(1)...5 { queue.append(number, of: Self.owner("source\(number)", "ann")) }
        queue.append(6, of: Self.owner("flood"))
        queue.append(7, of: Self.owner("flood"))
        #expect(queue.jobToReject(for: Self.owner("new", "bob"), cancelsOldest: false) == 5)
        #expect(queue.jobToReject(for: Self.owner("new", "bob"), cancelsOldest: true) == 1)
        #expect(queue.jobToReject(for: Self.owner("new", "ann"), cancelsOldest: false) == nil)
        for number in UInt64(8)...11 { queue.append(number, of: Self.owner("flood", "user\(number)")) }
        #expect(queue.jobToReject(for: Self.owner("new", "bob"), cancelsOldest: false) == 11)
        #expect(queue.jobToReject(for: Self.owner("new", "bob"), cancelsOldest: true) == 6)
    }

    @Test(arguments: [2, 8])
    func `a client that fills the queue with logins of one user does not keep the user out elsewhere`(slots: Int) {
        var queue = Self.queue(slots: slots)
        for number in 0..<(slots - 2) { queue.begin(Self.owner("busy\(number)", "busy\(number)")) }
        for number in UInt64(1)...10 { queue.append(number, of: Self.owner("flood", "ann")) }
        let running = slots == 2 ? 1 : 2
        for number in 1...running { #expect(queue.takeNext() == UInt64(number)) }
        #expect(queue.takeNext() == nil)
        #expect(queue.jobToReject(for: Self.owner("home", "ann"), cancelsOldest: false) == 10)
        #expect(queue.jobToReject(for: Self.owner("new", "bob"), cancelsOldest: false) == 10)
        #expect(queue.jobToReject(for: Self.owner("flood", "ann"), cancelsOldest: false) == nil)
        #expect(queue.jobToReject(for: Self.owner("flood", "bob"), cancelsOldest: false) == nil)
        #expect(queue.jobToReject(for: Self.owner("home", "ann"), cancelsOldest: true) == UInt64(running) + 1)
        queue.remove(10)
        queue.append(11, of: Self.owner("home", "ann"))
        #expect(queue.jobToReject(for: Self.owner("flood", "ann"), cancelsOldest: false) == nil)
        #expect(queue.jobToReject(for: Self.owner("work", "ann"), cancelsOldest: false) == 9)
    }

    @Test func `of the jobs of a user, one of the client with the most of them is rejected`() {
        var queue = Self.queue(slots: 2)
        queue.append(1, of: Self.owner("home", "ann"))
        for number in UInt64(2)...512 { queue.append(number, of: Self.owner("flood", "ann")) }
        queue.append(513, of: Self.owner("work", "ann"))
        #expect(queue.jobToReject(for: Self.owner("new", "bob"), cancelsOldest: false) == 512)
        #expect(queue.jobToReject(for: Self.owner("new", "bob"), cancelsOldest: true) == 2)
        #expect(queue.jobToReject(for: Self.owner("new"), cancelsOldest: false) == 512)
        // The jobs that have begun, and those that were removed, count no more.
        for number in UInt64(2)...511 { queue.remove(number) }
        #expect(queue.takeNext() == 1)
        queue.append(514, of: Self.owner("work", "ann"))
        #expect(queue.jobToReject(for: Self.owner("new", "bob"), cancelsOldest: false) == 514)
        #expect(queue.jobToReject(for: Self.owner("new", "bob"), cancelsOldest: true) == 513)
    }

    @Test func `a client does not cancel the job of another one that has as many`() {
        var queue = Self.queue(slots: 2)
        queue.append(1, of: Self.owner("home", "ann"))
        queue.append(2, of: Self.owner("flood", "ann"))
        #expect(queue.jobToReject(for: Self.owner("flood", "ann"), cancelsOldest: true) == 2)
        #expect(queue.jobToReject(for: Self.owner("flood", "bob"), cancelsOldest: true) == 2)
        #expect(queue.jobToReject(for: Self.owner("home", "ann"), cancelsOldest: true) == 1)
        queue.append(3, of: Self.owner("home"))
        queue.append(4, of: Self.owner("flood"))
        queue.append(5, of: Self.owner("home"))
        queue.append(6, of: Self.owner("flood"))
        #expect(queue.jobToReject(for: Self.owner("flood", "bob"), cancelsOldest: true) == 2)
        #expect(queue.jobToReject(for: Self.owner("new", "bob"), cancelsOldest: true) == 1)
    }

    @Test func `a client with jobs of many users does not keep out a user with jobs from one other client`() {
        var queue = Self.queue(slots: 2)
        for number in UInt64(1)...9 { queue.append(number, of: Self.owner("flood", "ann")) }
        queue.append(10, of: Self.owner("flood", "bob"))
        #expect(queue.jobToReject(for: Self.owner("home", "ann"), cancelsOldest: false) == 9)
        #expect(queue.jobToReject(for: Self.owner("home", "carol"), cancelsOldest: false) == 10)
    }

    @Test func `the oldest job is that which has waited longest, whatever was taken and removed`() {
        var queue = Self.queue(slots: 4)
        #expect(queue.oldest == nil)
        for number in UInt64(1)...300 {
            queue.append(number, of: Self.owner("source\(number % 7)", "user\(number % 5)"))
        }
        #expect(queue.oldest == 1)
        queue.remove(2)
        #expect(queue.takeNext() == 1)
        #expect(queue.oldest == 3)
        for number in UInt64(3)...300 where number != 150 { queue.remove(number) }
        #expect(queue.oldest == 150)
    }

    /// The bound of the growth: for eight times as many jobs a cost of eight times, with some room, and not of 64 times.
    private static let bound = 20.0

    /// Jobs of one user from many sources, and of many sources that wait, are not looked through again at each end of a job.
    @Test(arguments: ["ann", nil] as [String?])
    func `the cost to queue, take and end many jobs grows with their number`(account: String?) async {
        func cost(_ count: UInt64) -> Double {
            ProcessorTime.measureThread {
                var queue = Self.queue(slots: 8)
                func owner(_ number: UInt64) -> JobOwner { Self.owner("source\(number)", account ?? "user\(number)") }
                for number in 1...count { queue.append(number, of: owner(number)) }
                var taken: UInt64 = 0
                var running: [UInt64] = []
                while let number = queue.takeNext() {
                    taken += 1
                    running.append(number)
                    #expect(!queue.isFull(for: Self.owner("new", "bob"), limit: Int(count) + 1, free: 0))
                    if running.count == 4 || queue.runnable == 0 { queue.end(of: owner(running.removeFirst())) }
                }
                while !running.isEmpty {
                    queue.end(of: owner(running.removeFirst()))
                    while let number = queue.takeNext() {
                        taken += 1
                        running.append(number)
                    }
                }
                #expect(taken == count)
            }
        }
        let ratio = await CostRatio(below: Self.bound, of: { cost(4_000) }, to: { cost(500) })
        #expect(ratio.value < Self.bound, "\(ratio)")
    }

    /// The queue is emptied as after a time in which no job has ended: all jobs have waited for too long.
    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func `the cost to expire, cancel and reject many jobs grows with their number`(
        hasManySources: Bool,
        hasManyUsers: Bool
    ) async {
        func cost(_ count: UInt64) -> Double {
            ProcessorTime.measureThread {
                var queue = Self.queue(slots: 8)
                func owner(_ number: UInt64) -> JobOwner {
                    Self.owner("source\(hasManySources ? number : 0)", "user\(hasManyUsers ? number : 0)")
                }
                for number in 1...count { queue.append(number, of: owner(number)) }
                for number in 1...count {
                    _ = queue.jobToReject(for: owner(number), cancelsOldest: false)
                    _ = queue.jobToReject(for: owner(number), cancelsOldest: true)
                }
                // From the middle of the queue to its ends.
                for number in count / 4 + 1...count / 2 {
                    queue.remove(number)
                    queue.remove(count + 1 - number)
                }
                #expect(queue.count == Int(count / 2))
                while let oldest = queue.oldest { queue.remove(oldest) }
                #expect(queue.isUnused)
            }
        }
        let ratio = await CostRatio(below: Self.bound, of: { cost(4_000) }, to: { cost(500) })
        #expect(ratio.value < Self.bound, "\(ratio)")
    }

    @Test(arguments: [1, 2, 3, 6, 9], [1, 2, 3] as [UInt64])
    func `the limits hold, and every job that may run is counted, whatever is queued, taken, removed and ended`(
        slots: Int,
        seed: UInt64
    ) {
        var random = Random(seed: seed)
        var queue = Self.queue(slots: slots)
        var model = LimitedQueueModel(slots: slots)
        for number in UInt64(1)...1_000 {
            let source = random.pick(["source0", "source1", "source2", "local"])
            let owner = Self.owner(source, random.below(2) == 0 ? nil : "user\(random.below(4))")
            let free = slots - model.running.count
            #expect(queue.canRun(owner) == model.canRun(owner))
            let isFull = queue.isFull(for: owner, limit: 5, free: free)
            #expect(isFull == model.isFull(for: owner, limit: 5, free: free))
            for cancelsOldest in [false, true] {
                let rejected = queue.jobToReject(for: owner, cancelsOldest: cancelsOldest)
                #expect(model.isRight(rejected, for: owner, cancelsOldest: cancelsOldest))
            }
            switch random.below(9) {
            case 0...2:
                // The scheduler adds no job to a full queue without the removal of another one; the queue allows it.
                if isFull, random.below(2) == 0 {
                    guard let rejected = queue.jobToReject(for: owner, cancelsOldest: random.below(2) == 0) else {
                        break
                    }
                    model.remove(rejected)
                    queue.remove(rejected)
                }
                model.append(number, of: owner)
                queue.append(number, of: owner)
            case 3:
                guard !model.waiting.isEmpty else { break }
                let removed = random.pick(model.waiting).number
                model.remove(removed)
                queue.remove(removed)
            case 4:
                guard free > 0, model.runnable == 0, model.canRun(owner) else { break }
                model.begin(number, of: owner)
                queue.begin(owner)
            case 5...6:
                guard free > 0 else { break }
                #expect(queue.takeNext() == model.takeNext())
            default:
                guard !model.running.isEmpty else { break }
                let ended = random.pick(model.running)
                model.end(ended.number)
                queue.end(of: ended.owner)
            }
            #expect(queue.count == model.waiting.count)
            #expect(queue.oldest == model.oldest)
            #expect(queue.runnable == model.runnable)
            #expect(model.keepsLimits)
        }
        for job in model.running { queue.end(of: job.owner) }
        for job in model.waiting { queue.remove(job.number) }
        #expect(queue.isUnused)
    }
}

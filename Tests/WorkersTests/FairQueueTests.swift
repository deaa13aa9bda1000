// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Workers

struct FairQueueTests {
    private static func queue(slots: Int = 2) -> FairQueue { FairQueue(slots: slots, unlimitedSource: "local") }

    private static func owner(_ source: String, _ account: String? = nil) -> JobOwner {
        JobOwner(source: source, account: account)
    }

    @Test func `sources take turns, however many jobs of one source wait`() {
        var queue = FairQueue(slots: 6, unlimitedSource: nil)
        for number in UInt64(1)...100 { queue.append(number, of: Self.owner("flood")) }
        queue.append(200, of: Self.owner("ann"))
        queue.append(300, of: Self.owner("zed"))
        queue.append(301, of: Self.owner("ann"))
        #expect(queue.take(7) == [1, 200, 300, 2, 301, 3])
        #expect(queue.count == 97)
    }

    @Test func `a removed job is not returned, and a source without jobs is skipped`() {
        var queue = FairQueue(slots: 9, unlimitedSource: nil)
        for (number, source) in [(1, "a"), (2, "b"), (3, "a")] as [(UInt64, String)] {
            queue.append(number, of: Self.owner(source))
        }
        #expect(queue.oldest?.number == 1)
        let removed = [queue.remove(1), queue.remove(1), queue.remove(2)]
        #expect(removed == [true, false, true])
        #expect(queue.oldest?.number == 3)
        #expect(queue.take(2) == [3])
        #expect(queue.oldest == nil)
        queue.append(4, of: Self.owner("b"))
        #expect(queue.take(1) == [4])
    }

    @Test func `a source that holds as much as it may is passed`() {
        var queue = Self.queue(slots: 3)
        for number in UInt64(1)...3 { queue.append(number, of: Self.owner("flood")) }
        let first = queue.takeNext()
        queue.append(4, of: Self.owner("ann"))
        queue.append(5, of: Self.owner("bob"))
        #expect(queue.take(3) == [4, 5])
        queue.end(first)
        #expect(queue.take(2) == [2])
        _ = queue.remove(3)
        #expect(queue.count == 0)
    }

    @Test func `the logins of one user from many sources hold half of the slots, and the others pass them`() {
        var queue = Self.queue(slots: 4)
        for number in UInt64(1)...4 { queue.append(number, of: Self.owner("source\(number)", "ann")) }
        queue.append(5, of: Self.owner("source1", "bob"))
        let first = queue.takeNext()
        // The user's other logins wait; another user of the same source does not.
        #expect(queue.take(4) == [2, 5])
        #expect(queue.start(Self.owner("elsewhere", "ann"), weight: 0) == nil)
        #expect(queue.start(Self.owner("local", "ann"), weight: 0) == nil)
        #expect(queue.start(Self.owner("elsewhere", "carol"), weight: 0) != nil)
        queue.end(first)
        #expect(queue.take(2) == [3])
    }

    @Test func `a source without limits may hold all slots`() {
        var queue = Self.queue(slots: 3)
        for number in UInt64(1)...4 { queue.append(number, of: Self.owner("local", "user\(number)")) }
        #expect(queue.take(4) == [1, 2, 3])
    }

    @Test func `one source holds half of what a user may hold, so that the user can sign in from elsewhere`() {
        var queue = Self.queue(slots: 8)
        for number in UInt64(1)...6 { queue.append(number, of: Self.owner("attacker", "ann")) }
        queue.append(7, of: Self.owner("attacker", "bob"))
        let first = queue.takeNext()
        #expect(queue.take(6) == [2, 7])
        #expect(queue.start(Self.owner("attacker", "ann"), weight: 0) == nil)
        #expect(queue.start(Self.owner("home", "ann"), weight: 0) != nil)
        queue.end(first)
        #expect(queue.take(2) == [3])
    }

    @Test func `the end of one job lets two jobs run, one of the same source and one of the same user`() {
        var queue = Self.queue(slots: 3)
        let first = queue.start(Self.owner("a", "x"), weight: 0)
        queue.append(1, of: Self.owner("a", "y"))
        queue.append(2, of: Self.owner("b", "x"))
        #expect(queue.take(1) == [])
        if let first { queue.end((0, first)) }
        #expect(queue.take(2) == [1, 2])
    }

    @Test func `a slot that is not free yet is a place in the queue, and counts no more for its owner`() {
        var queue = Self.queue(slots: 2)
        queue.append(1, of: Self.owner("a", "ann"))
        let first = queue.takeNext()
        #expect(queue.isFull(limit: 0))
        if let first { queue.finish(first.job) }
        #expect(!queue.isFull(limit: 0))
        queue.append(2, of: Self.owner("a", "ann"))
        queue.append(3, of: Self.owner("b"))
        #expect(queue.isFull(limit: 1) && !queue.isFull(limit: 2))
        #expect(queue.take(2) == [2])
        queue.freeSlot()
        #expect(queue.take(2) == [3])
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
        for number in 0..<(slots - 2) {
            let busy = queue.start(Self.owner("busy\(number)", "busy\(number)"), weight: 0)
            #expect(busy != nil)
        }
        for number in UInt64(1)...10 { queue.append(number, of: Self.owner("flood", "ann")) }
        let running = slots == 2 ? 1 : 2
        #expect(queue.take(running + 1) == (1...running).map { UInt64($0) })
        #expect(queue.jobToReject(for: Self.owner("home", "ann"), cancelsOldest: false) == 10)
        #expect(queue.jobToReject(for: Self.owner("new", "bob"), cancelsOldest: false) == 10)
        #expect(queue.jobToReject(for: Self.owner("flood", "ann"), cancelsOldest: false) == nil)
        #expect(queue.jobToReject(for: Self.owner("flood", "bob"), cancelsOldest: false) == nil)
        #expect(queue.jobToReject(for: Self.owner("home", "ann"), cancelsOldest: true) == UInt64(running) + 1)
        _ = queue.remove(10)
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
        for number in UInt64(2)...511 { _ = queue.remove(number) }
        #expect(queue.take(1) == [1])
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

    @Test(arguments: [1, 2, 3, 6, 9], [false, true])
    func `limits and turns hold, and a slot is free only if no waiting job may run, whatever begins and ends`(
        slots: Int,
        isWeighted: Bool
    ) {
        for seed in UInt64(1)...3 {
            var random = Random(seed: seed)
            var model = FairQueueModel(slots: slots, capacity: isWeighted ? 10 : nil)
            for _ in 1...1_000 {
                let source = random.pick(["source0", "source1", "source2", "local"])
                let owner = Self.owner(source, random.below(2) == 0 ? nil : "user\(random.below(4))")
                for cancelsOldest in [false, true] { model.checkRejection(for: owner, cancelsOldest: cancelsOldest) }
                switch random.below(8) {
                case 0...3: model.add(owner, weight: random.below(10), queue: 5, cancelsOldest: random.below(2) == 0)
                case 4: if !model.waiting.isEmpty { model.remove(random.pick(model.waiting)) }
                case 5: model.freeSlot()
                default: if !model.running.isEmpty { model.finish(random.pick(model.running)) }
                }
                model.startWaiting()
            }
            model.end()
        }
    }
}

extension FairQueue {
    fileprivate mutating func append(_ number: UInt64, of owner: JobOwner) {
        append(number, of: owner, weight: 0, since: number)
    }

    /// Takes as many jobs, or fewer if no more may run.
    fileprivate mutating func take(_ count: Int) -> [UInt64] { (0..<count).compactMap { _ in takeNext()?.number } }

    fileprivate mutating func end(_ taken: (number: UInt64, job: Job)?) {
        guard let taken else { return }
        finish(taken.job)
        freeSlot()
    }
}

/// A queue, beside lists of its jobs by which each step is checked.
private struct FairQueueModel {
    struct Job {
        let number: UInt64
        let owner: JobOwner
        let weight: Int
        var slot: FairQueue.Job?
    }

    private var queue: FairQueue
    private let slots: Int
    private let capacity: Int?
    private(set) var waiting: [Job] = []
    private(set) var running: [Job] = []
    private var finishing = 0
    private var lastNumber: UInt64 = 0
    /// The time of the last turn of each source, or of its first waiting job.
    private var turns: [[UInt8]: Int] = [:]
    private var lastTurn = 0

    init(slots: Int, capacity: Int?) {
        (self.slots, self.capacity) = (slots, capacity)
        queue = FairQueue(slots: slots, capacity: capacity ?? .max, unlimitedSource: capacity == nil ? "local" : nil)
    }

    private var free: Int { slots - running.count - finishing }

    private func fits(_ weight: Int) -> Bool {
        capacity.map { running.map(\.weight).reduce(weight, +) <= $0 } ?? true
    }

    /// Returns whether the limits allow one more job of an owner.
    private func mayRun(_ owner: JobOwner) -> Bool {
        guard capacity == nil else { return true }
        let limit = max(1, slots / 2)
        func count(_ isCounted: (JobOwner) -> Bool) -> Int { running.count { isCounted($0.owner) } }
        let isLocal = owner.source == Array("local".utf8)
        guard isLocal || count({ $0.source == owner.source }) < limit else { return false }
        guard let account = owner.account else { return true }
        return count { $0.account == account } < limit && (isLocal || count { $0 == owner } < max(1, limit / 2))
    }

    // MARK: Changes

    mutating func add(_ owner: JobOwner, weight: Int, queue limit: Int, cancelsOldest: Bool) {
        lastNumber += 1
        var job = Job(number: lastNumber, owner: owner, weight: capacity == nil ? 0 : weight)
        let mayStart = free > 0 && mayRun(owner) && fits(job.weight) && (capacity == nil || waiting.isEmpty)
        job.slot = queue.start(owner, weight: job.weight)
        #expect((job.slot != nil) == mayStart)
        guard job.slot == nil else { return running.append(job) }
        let isFull = waiting.count >= limit + finishing
        #expect(queue.isFull(limit: limit) == isFull)
        if isFull {
            let rejected = queue.jobToReject(for: owner, cancelsOldest: cancelsOldest)
            guard let other = waiting.first(where: { $0.number == rejected }) else { return }
            remove(other)
        }
        if !waiting.contains(where: { $0.owner.source == owner.source }) { giveLastTurn(owner.source) }
        queue.append(job.number, of: owner, weight: job.weight, since: job.number)
        waiting.append(job)
    }

    mutating func remove(_ job: Job) {
        let isRemoved = queue.remove(job.number)
        #expect(isRemoved)
        waiting.removeAll { $0.number == job.number }
    }

    mutating func finish(_ job: Job) {
        if let slot = job.slot { queue.finish(slot) }
        running.removeAll { $0.number == job.number }
        finishing += 1
    }

    mutating func freeSlot() {
        guard finishing > 0 else { return }
        queue.freeSlot()
        finishing -= 1
    }

    /// Takes all jobs that may run: of the source that has waited longest for its turn, its oldest one that may run.
    mutating func startWaiting() {
        while true {
            let next = waiting.filter { mayRun($0.owner) }
                .min { (turns[$0.owner.source] ?? 0, $0.number) < (turns[$1.owner.source] ?? 0, $1.number) }
            let expected = next.flatMap { free > 0 && fits($0.weight) ? $0 : nil }
            let taken = queue.takeNext()
            #expect(taken?.number == expected?.number)
            #expect(queue.count == waiting.count - (taken == nil ? 0 : 1))
            guard var job = expected, let taken else { break }
            job.slot = taken.job
            waiting.removeAll { $0.number == job.number }
            running.append(job)
            giveLastTurn(job.owner.source)
        }
        #expect(queue.oldest?.number == waiting.map(\.number).min())
        #expect(queue.free == free && queue.weight == running.map(\.weight).reduce(0, +))
    }

    private mutating func giveLastTurn(_ source: [UInt8]) {
        lastTurn += 1
        turns[source] = lastTurn
    }

    /// Ends all jobs; nothing must be kept.
    mutating func end() {
        for job in waiting { remove(job) }
        for job in running { finish(job) }
        while finishing > 0 { freeSlot() }
        #expect(queue.isUnused && queue.free == slots)
    }

    // MARK: Rejection

    /// Checks that the job to be rejected is one of those that the rule allows, or the new job.
    func checkRejection(for owner: JobOwner, cancelsOldest: Bool) {
        let rejected = queue.jobToReject(for: owner, cancelsOldest: cancelsOldest)
        #expect(isRight(rejected, for: owner, cancelsOldest: cancelsOldest))
    }

    private func isRight(_ rejected: UInt64?, for owner: JobOwner, cancelsOldest: Bool) -> Bool {
        func count(_ isCounted: (JobOwner) -> Bool) -> Int { waiting.count { isCounted($0.owner) } }
        func ofSource(_ owner: JobOwner) -> Int { count { $0.source == owner.source } }
        func ofAccount(_ owner: JobOwner) -> Int { owner.account == nil ? 0 : count { $0.account == owner.account } }
        func ofPair(_ owner: JobOwner) -> Int { owner.account == nil ? 0 : count { $0 == owner } }
        func mostOfUser(_ owner: JobOwner) -> Int {
            waiting.filter { $0.owner.account == owner.account }.map { ofPair($0.owner) }.max() ?? 0
        }
        let most = waiting.map { max(ofSource($0.owner), ofAccount($0.owner)) }.max() ?? 0
        let isOther = most > max(ofSource(owner), ofAccount(owner)) + 1
        let isOtherOfUser =
            !isOther && owner.account != nil && most > ofSource(owner) + 1 && mostOfUser(owner) > ofPair(owner) + 1
        guard let rejected else { return waiting.isEmpty || !cancelsOldest && !isOther && !isOtherOfUser }
        guard let job = waiting.first(where: { $0.number == rejected }) else { return false }
        func isAtEnd(_ isCounted: (JobOwner) -> Bool) -> Bool {
            let numbers = waiting.filter { isCounted($0.owner) }.map(\.number)
            return rejected == (cancelsOldest ? numbers.min() : numbers.max())
        }
        let isOfSource = ofSource(job.owner) == most && isAtEnd { $0.source == job.owner.source }
        let isOfAccount = ofPair(job.owner) == mostOfUser(job.owner) && isAtEnd { $0 == job.owner }
        if cancelsOldest || isOther { return isOfSource || isOfAccount && ofAccount(job.owner) == most }
        return isOtherOfUser && isOfAccount && job.owner.account == owner.account
    }
}

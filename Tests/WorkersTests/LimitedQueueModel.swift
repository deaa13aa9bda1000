// SPDX-License-Identifier: Apache-2.0

import Bytes
import Workers

/// A simple model of ``LimitedQueue``, which looks through all jobs at each step.
struct LimitedQueueModel {
    struct Job {
        let number: UInt64
        let owner: JobOwner
        var isReady: Bool
    }

    let limit: Int
    let pairLimit: Int
    /// The waiting jobs; those that are ready come first, in the order in which they became ready.
    private(set) var waiting: [Job] = []
    private(set) var running: [Job] = []
    /// The sources with a job that may run, in the order of their turns.
    private var turns: [UTF8Text] = []
    /// The owners with a job that may become ready, in the order of their turns.
    private var offers: [JobOwner] = []

    init(slots: Int) {
        limit = max(1, slots / 2)
        pairLimit = max(1, limit / 2)
    }

    // MARK: The state

    var oldest: UInt64? { waiting.map(\.number).min() }

    var runnable: Int { Set(waiting.map(\.owner.source)).map { runnable(of: $0) }.reduce(0, +) }

    func runningJobs(of source: UTF8Text) -> Int { running.count { $0.owner.source == source } }

    /// Returns the number of jobs of a user that run or are ready, of all sources or of one.
    func admitted(_ account: UTF8Text?, source: UTF8Text? = nil) -> Int {
        (running + waiting.filter(\.isReady))
            .count { $0.owner.account == account && (source == nil || $0.owner.source == source) }
    }

    func canRun(_ owner: JobOwner) -> Bool {
        let ready = waiting.count { $0.isReady && $0.owner.source == owner.source }
        guard owner.source == "local" || runningJobs(of: owner.source) + ready < limit else { return false }
        return owner.account == nil || admitted(owner.account) < limit && mayAdmit(owner)
    }

    /// Returns whether more jobs than the limit would wait after a new one, and more than before.
    func isFull(for owner: JobOwner, limit: Int, free: Int) -> Bool {
        var next = self
        next.append(.max, of: owner)
        let (before, after) = (waiting.count - min(runnable, free), next.waiting.count - min(next.runnable, free))
        return after > limit && after > before
    }

    /// True if no source, no user and no source for one user has more running jobs than it may.
    var keepsLimits: Bool {
        running.allSatisfy { job in
            let ofPair = running.count { $0.owner == job.owner }
            let ofAccount = running.count { $0.owner.account == job.owner.account }
            guard job.owner.account == nil || ofAccount <= limit else { return false }
            guard job.owner.source != "local" else { return true }
            return runningJobs(of: job.owner.source) <= limit && (job.owner.account == nil || ofPair <= pairLimit)
        }
    }

    /// Returns whether a job is one of those that may be rejected for a new job, or nil if that is to be rejected.
    func isRight(_ rejected: UInt64?, for owner: JobOwner, cancelsOldest: Bool) -> Bool {
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

    private func mayAdmit(_ owner: JobOwner) -> Bool {
        owner.source == "local" || admitted(owner.account, source: owner.source) < pairLimit
    }

    private func runnable(of source: UTF8Text) -> Int {
        let ready = waiting.count { $0.isReady && $0.owner.source == source }
        return source == "local" ? ready : min(ready, limit - runningJobs(of: source))
    }

    // MARK: Changes

    mutating func append(_ number: UInt64, of owner: JobOwner) {
        waiting.append(Job(number: number, owner: owner, isReady: false))
        if owner.account == nil { makeReady { $0.number == number } }
        settle()
    }

    mutating func remove(_ number: UInt64) {
        waiting.removeAll { $0.number == number }
        settle()
    }

    mutating func takeNext() -> UInt64? {
        guard let source = turns.first,
            let next = waiting.firstIndex(where: { $0.isReady && $0.owner.source == source })
        else { return nil }
        turns.removeFirst()
        running.append(waiting.remove(at: next))
        settle()
        return running.last?.number
    }

    mutating func begin(_ number: UInt64, of owner: JobOwner) {
        running.append(Job(number: number, owner: owner, isReady: true))
        settle()
    }

    mutating func end(_ number: UInt64) {
        running.removeAll { $0.number == number }
        settle()
    }

    /// Gives turns to sources and users, and takes them back, and makes jobs ready that may be.
    private mutating func settle() {
        giveTurns()
        giveOffers()
        while let place = offers.firstIndex(where: { admitted($0.account) < limit }) {
            let owner = offers.remove(at: place)
            makeReady { !$0.isReady && $0.owner == owner }
            giveOffers()
            giveTurns()
        }
    }

    private mutating func makeReady(_ isChosen: (Job) -> Bool) {
        guard let place = waiting.firstIndex(where: isChosen) else { return }
        var job = waiting.remove(at: place)
        job.isReady = true
        let ready = waiting.count { $0.isReady }
        waiting.insert(job, at: ready)
    }

    private mutating func giveTurns() {
        turns = turns.filter { runnable(of: $0) > 0 }
        for job in waiting where runnable(of: job.owner.source) > 0 && !turns.contains(job.owner.source) {
            turns.append(job.owner.source)
        }
    }

    private mutating func giveOffers() {
        let unready = waiting.filter { !$0.isReady }.map(\.owner)
        offers = offers.filter { owner in unready.contains(owner) && mayAdmit(owner) }
        for owner in unready where mayAdmit(owner) && !offers.contains(owner) { offers.append(owner) }
    }
}

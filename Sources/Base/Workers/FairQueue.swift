// SPDX-License-Identifier: Apache-2.0

/// The client and the user of a job, compared by bytes; the running jobs of each may be limited.
package struct JobOwner: Sendable, Hashable {
    /// The source (client address) of the job.
    package let source: [UInt8]
    /// The user, in one spelling for all spellings that the realm accepts; nil if the job is not for one user.
    package let account: [UInt8]?

    package init(source: String, account: String?) {
        self.source = Array(source.utf8)
        self.account = account.map { Array($0.utf8) }
    }
}

/// The slots that jobs hold, and the jobs that wait for one, whose sources take turns.
///
/// Half of the slots may be held by one source, and half by one user, of which one source may hold half; each at least one. So
/// neither one client nor the logins of one user can hold all slots, whatever makes these logins slow, and a client cannot
/// use up what another user may hold. A job that its source or user keeps waiting is passed by others; one that waits for
/// its weight is not, so that lighter ones cannot delay it forever.
///
/// Its functions look through the waiting jobs, some thousands at most, in some microseconds.
struct FairQueue: Sendable {
    /// A job that runs or waits: the indices of the counts of its owner, and its weight.
    struct Job: Sendable {
        fileprivate let source: Int
        fileprivate let account: Int
        fileprivate let sourceAndAccount: Int
        fileprivate let weight: Int
    }

    private struct Waiting {
        let number: UInt64
        let since: UInt64
        let job: Job
    }

    private enum Name: Hashable {
        case source([UInt8])
        case account([UInt8])
        /// The indices of a source and a user.
        case sourceAndAccount(Int, Int)
        case none
    }

    private struct Count {
        let limit: Int
        var running = 0
        var waiting = 0
        /// The source with the lowest number has the next turn.
        var turn: UInt64 = 0
        var mayRun: Bool { running < limit }
    }

    /// The counts of sources, of users, and of sources for one user; the first one is that of ``noAccount``.
    private var counts = [Count(limit: .max)]
    private var names = [Name.none]
    private var index: [Name: Int] = [:]
    private var unusedIndices: [Int] = []
    /// The oldest first.
    private var waiting: [Waiting] = []
    private var lastTurn: UInt64 = 0
    /// The number of slots that are not held.
    private(set) var free: Int
    /// The number of slots whose jobs have ended, but which are not free yet.
    private var finishing = 0
    /// The sum of the weights of the running jobs.
    private(set) var weight = 0

    /// The index of the count of jobs without a user.
    private let noAccount = 0
    private let capacity: Int
    private let limit: Int
    private let unlimitedSource: [UInt8]?

    /// Creates slots for running jobs of at most `capacity` in all.
    ///
    /// `unlimitedSource` has no limit of its own, for example that of logins that did not come over a network. If it is nil,
    /// no source and no user has a limit.
    init(slots: Int, capacity: Int = .max, unlimitedSource: String?) {
        free = slots
        self.capacity = capacity
        self.unlimitedSource = unlimitedSource.map { Array($0.utf8) }
        limit = unlimitedSource == nil ? .max : Self.limit(ofSlots: slots)
    }

    /// The number of jobs of one source, or of one user, that may run at a time, of a number of slots.
    static func limit(ofSlots slots: Int) -> Int { max(1, slots / 2) }

    /// The number of waiting jobs.
    var count: Int { waiting.count }

    /// The number of the job that has waited longest, and the time at which it began to wait.
    var oldest: (number: UInt64, since: UInt64)? { waiting.first.map { ($0.number, $0.since) } }

    /// True if no job waits or runs, and nothing is kept of earlier ones.
    var isUnused: Bool { waiting.isEmpty && index.isEmpty && finishing == 0 && weight == 0 }

    // MARK: Slots

    /// Takes a free slot for a new job; nil if it must wait.
    mutating func start(_ owner: JobOwner, weight: Int) -> Job? {
        guard free > 0, fits(weight), capacity == .max || waiting.isEmpty else { return nil }
        let job = job(of: owner, weight: weight)
        guard mayRun(job) else {
            forget(job)
            return nil
        }
        begin(job)
        return job
    }

    /// Takes a free slot for the waiting job whose turn it is; nil if none may run.
    mutating func takeNext() -> (number: UInt64, job: Job)? {
        guard free > 0 else { return nil }
        var next: (index: Int, turn: UInt64)?
        for index in waiting.indices {
            let turn = counts[waiting[index].job.source].turn
            if turn < next?.turn ?? .max, mayRun(waiting[index].job) { next = (index, turn) }
        }
        guard let next, fits(waiting[next.index].job.weight) else { return nil }
        let taken = waiting.remove(at: next.index)
        change(taken.job, waiting: -1)
        giveLastTurn(taken.job.source)
        begin(taken.job)
        return (taken.number, taken.job)
    }

    /// Counts a job no more, whose slot is not free before ``freeSlot()``.
    mutating func finish(_ job: Job) {
        finishing += 1
        weight -= job.weight
        change(job, running: -1)
        forget(job)
    }

    /// Frees the slot of a job that was finished.
    mutating func freeSlot() {
        finishing -= 1
        free += 1
    }

    private mutating func begin(_ job: Job) {
        free -= 1
        weight += job.weight
        change(job, running: 1)
    }

    private func fits(_ weight: Int) -> Bool { weight <= capacity - self.weight }

    private func mayRun(_ job: Job) -> Bool {
        counts[job.source].mayRun && counts[job.account].mayRun && counts[job.sourceAndAccount].mayRun
    }

    private mutating func giveLastTurn(_ source: Int) {
        lastTurn += 1
        counts[source].turn = lastTurn
    }

    // MARK: Waiting

    /// Adds a waiting job, whose number is greater than those of all earlier ones.
    mutating func append(_ number: UInt64, of owner: JobOwner, weight: Int, since: UInt64) {
        let job = job(of: owner, weight: weight)
        if counts[job.source].waiting == 0 { giveLastTurn(job.source) }
        change(job, waiting: 1)
        waiting.append(Waiting(number: number, since: since, job: job))
    }

    /// Removes a waiting job; false if it does not wait.
    mutating func remove(_ number: UInt64) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return false }
        let job = waiting.remove(at: index).job
        change(job, waiting: -1)
        forget(job)
        return true
    }

    // MARK: A full queue

    /// Returns whether a new job must be rejected, or another one for it.
    ///
    /// A slot that is not free yet counts as a place, so that a client whose job has ended needs none for its next one.
    func isFull(limit: Int) -> Bool { waiting.count - finishing >= limit }

    /// Returns the waiting job to be rejected for a new job when the queue is full; nil if the new job is to be rejected.
    ///
    /// The source or the user with the most waiting jobs loses one; a user loses it from the source with the most waiting
    /// jobs of this user, so that a source that fills the queue does not cost the user the jobs from elsewhere.
    ///
    /// With `cancelsOldest`, the oldest of these jobs is rejected, if possible one of the source of the new job. Otherwise
    /// the newest of them is rejected, and the new job counts as one of them, as the newest.
    func jobToReject(for owner: JobOwner, cancelsOldest: Bool) -> UInt64? {
        let source = index[.source(owner.source)]
        let account = owner.account.flatMap { index[.account($0)] }
        func pick(_ isCandidate: (Job) -> Bool) -> Waiting? {
            guard cancelsOldest else { return waiting.last { isCandidate($0.job) } }
            return waiting.first { $0.job.source == source && isCandidate($0.job) }
                ?? waiting.first { isCandidate($0.job) }
        }
        func pick(ofUser account: Int) -> Waiting? {
            let most = waiting.lazy.filter { $0.job.account == account }.map { waitingCount($0.job.sourceAndAccount) }
                .max()
            return pick { $0.account == account && waitingCount($0.sourceAndAccount) == most }
        }
        let ofSources = waiting.map { waitingCount($0.job.source) }.max() ?? 0
        let most = max(ofSources, waiting.map { waitingCount($0.job.account) }.max() ?? 0)
        let ofSource = waitingCount(source) + 1
        let ofUser = owner.account == nil ? 0 : waitingCount(account) + 1
        if cancelsOldest || most > max(ofSource, ofUser) {
            if ofSources == most { return pick { waitingCount($0.source) == most }?.number }
            return pick { waitingCount($0.account) == most }.flatMap { pick(ofUser: $0.job.account) }?.number
        }
        // The source or the user of the new job has the most. If it is the user, another source may have more of the user's.
        guard most > ofSource, let account, let other = pick(ofUser: account) else { return nil }
        let ofBoth = waitingCount(source.flatMap { index[.sourceAndAccount($0, account)] }) + 1
        return waitingCount(other.job.sourceAndAccount) > ofBoth ? other.number : nil
    }

    /// The number of waiting jobs of a source, of a user, or of both; 0 for ``noAccount``, and for none.
    private func waitingCount(_ index: Int?) -> Int {
        guard let index, index != noAccount else { return 0 }
        return counts[index].waiting
    }

    // MARK: Counts

    private mutating func job(of owner: JobOwner, weight: Int) -> Job {
        let isLimited = owner.source != unlimitedSource
        let source = index(of: .source(owner.source), limit: isLimited ? limit : .max)
        guard let name = owner.account else {
            return Job(source: source, account: noAccount, sourceAndAccount: noAccount, weight: weight)
        }
        let account = index(of: .account(name), limit: limit)
        let limit = isLimited ? Self.limit(ofSlots: limit) : .max
        let both = index(of: .sourceAndAccount(source, account), limit: limit)
        return Job(source: source, account: account, sourceAndAccount: both, weight: weight)
    }

    private mutating func index(of name: Name, limit: Int) -> Int {
        if let index = index[name] { return index }
        let new = unusedIndices.popLast() ?? counts.count
        if new == counts.count {
            counts.append(Count(limit: limit))
            names.append(name)
        } else {
            (counts[new], names[new]) = (Count(limit: limit), name)
        }
        index[name] = new
        return new
    }

    private mutating func change(_ job: Job, running: Int = 0, waiting: Int = 0) {
        for index in [job.source, job.account, job.sourceAndAccount] {
            counts[index].running += running
            counts[index].waiting += waiting
        }
    }

    /// Removes the counts of a job that has ended, if they are zero.
    private mutating func forget(_ job: Job) {
        for unused in [job.sourceAndAccount, job.account, job.source]
        where unused != noAccount && counts[unused].running == 0 && counts[unused].waiting == 0 {
            index[names[unused]] = nil
            unusedIndices.append(unused)
        }
    }
}

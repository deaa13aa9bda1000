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
    /// A job that runs or waits: the places of the counts of its owner, and its weight.
    struct Job: Sendable {
        fileprivate let source: Int
        fileprivate let account: Int
        fileprivate let both: Int
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
        /// The places of a source and a user.
        case both(Int, Int)
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
    private var places: [Name: Int] = [:]
    private var unusedPlaces: [Int] = []
    /// The oldest first.
    private var waiting: [Waiting] = []
    private var lastTurn: UInt64 = 0
    /// The number of slots that are not held.
    private(set) var free: Int
    /// The number of slots whose jobs have ended, but which are not free yet.
    private var finishing = 0
    /// The sum of the weights of the running jobs.
    private(set) var weight = 0

    /// The place of jobs without a user.
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
    var isUnused: Bool { waiting.isEmpty && places.isEmpty && finishing == 0 && weight == 0 }

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
        var next: (place: Int, turn: UInt64)?
        for place in waiting.indices {
            let turn = counts[waiting[place].job.source].turn
            if turn < next?.turn ?? .max, mayRun(waiting[place].job) { next = (place, turn) }
        }
        guard let next, fits(waiting[next.place].job.weight) else { return nil }
        let taken = waiting.remove(at: next.place)
        change(taken.job, waiting: -1)
        giveLastTurn(taken.job.source)
        begin(taken.job)
        return (taken.number, taken.job)
    }

    /// Counts a job no more, whose slot is not free before ``free()``.
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
        counts[job.source].mayRun && counts[job.account].mayRun && counts[job.both].mayRun
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
        guard let place = waiting.firstIndex(where: { $0.number == number }) else { return false }
        let job = waiting.remove(at: place).job
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
    /// The source or the user with the most waiting jobs loses one. If it is a user, the job is one of the source with the
    /// most waiting jobs of this user, so that a source that fills the queue does not cost the user the jobs from elsewhere.
    ///
    /// With `cancelsOldest`, it is the oldest job of that source or user; of several sources, that of the new job.
    /// Otherwise it is the newest one if there are more of them than of the source and the user of the new job, of which the
    /// new job is one. If the user of the new job has the most, it is the newest job of the source with the most jobs of this
    /// user if it has more of them than the source of the new job. In all other cases the new job is rejected.
    func jobToReject(for owner: JobOwner, cancelsOldest: Bool) -> UInt64? {
        let source = places[.source(owner.source)]
        let account = owner.account.flatMap { places[.account($0)] }
        func count(_ place: Int?) -> Int {
            guard let place, place != noAccount else { return 0 }
            return counts[place].waiting
        }
        func pick(_ isCandidate: (Job) -> Bool) -> Waiting? {
            guard cancelsOldest else { return waiting.last { isCandidate($0.job) } }
            return waiting.first { $0.job.source == source && isCandidate($0.job) }
                ?? waiting.first { isCandidate($0.job) }
        }
        func pick(ofUser account: Int) -> Waiting? {
            let most = waiting.lazy.filter { $0.job.account == account }.map { count($0.job.both) }.max()
            return pick { $0.account == account && count($0.both) == most }
        }
        var (ofSources, ofUsers) = (0, 0)
        for other in waiting {
            ofSources = max(ofSources, count(other.job.source))
            ofUsers = max(ofUsers, count(other.job.account))
        }
        let most = max(ofSources, ofUsers)
        // The new job counts, because it would be one of those that wait.
        let ofSource = count(source) + 1
        if !cancelsOldest, most <= max(ofSource, owner.account == nil ? 0 : count(account) + 1) {
            guard most > ofSource, let account, let other = pick(ofUser: account) else { return nil }
            let ofBoth = count(source.flatMap { places[.both($0, account)] }) + 1
            return count(other.job.both) > ofBoth ? other.number : nil
        }
        if ofSources == most { return pick { count($0.source) == most }?.number }
        return pick { count($0.account) == most }.flatMap { pick(ofUser: $0.job.account) }?.number
    }

    // MARK: Counts

    private mutating func job(of owner: JobOwner, weight: Int) -> Job {
        let isLimited = owner.source != unlimitedSource
        let source = place(of: .source(owner.source), limit: isLimited ? limit : .max)
        guard let name = owner.account else {
            return Job(source: source, account: noAccount, both: noAccount, weight: weight)
        }
        let account = place(of: .account(name), limit: limit)
        let both = place(of: .both(source, account), limit: isLimited ? Self.limit(ofSlots: limit) : .max)
        return Job(source: source, account: account, both: both, weight: weight)
    }

    private mutating func place(of name: Name, limit: Int) -> Int {
        if let place = places[name] { return place }
        let place = unusedPlaces.popLast() ?? counts.count
        if place == counts.count {
            counts.append(Count(limit: limit))
            names.append(name)
        } else {
            (counts[place], names[place]) = (Count(limit: limit), name)
        }
        places[name] = place
        return place
    }

    private mutating func change(_ job: Job, running: Int = 0, waiting: Int = 0) {
        for place in [job.source, job.account, job.both] {
            counts[place].running += running
            counts[place].waiting += waiting
        }
    }

    /// Removes the counts of a job that has ended, if they are zero.
    private mutating func forget(_ job: Job) {
        for place in [job.both, job.account, job.source]
        where place != noAccount && counts[place].running == 0 && counts[place].waiting == 0 {
            places[names[place]] = nil
            unusedPlaces.append(place)
        }
    }
}

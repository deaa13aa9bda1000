// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// Waiting jobs, and the number of the jobs that run for each source and each user.
///
/// The sources take turns. Half of the slots may be held by one source, and half by one user, of which one source may hold
/// half. So neither one client nor the logins of one user can hold all slots, whatever makes these logins slow, and a client
/// cannot use up what another user may hold.
///
/// A job of a user waits first until its user may have one more job, then for the turn of its source. The sources of one user
/// take turns, too. The average time of each operation does not grow with the number of waiting jobs, sources and users.
package struct LimitedQueue: Sendable {
    private struct Job {
        let owner: JobOwner
        /// True if the job waits only for the turn of its source.
        var isReady: Bool
    }

    private struct Source {
        var running = 0
        /// The jobs that wait only for the turn of the source.
        var ready = NumberQueue()
        /// The place among the sources with a job that may run; nil if there is no such job.
        var turn: UInt64?
    }

    private struct Account {
        /// The number of running jobs and of those that are ready.
        var admitted = 0
        /// The sources with a job that may become ready; the first one has the next turn.
        var rotation = NameQueue()
    }

    /// The jobs of one source for one user.
    private struct Pair {
        /// The number of running jobs and of those that are ready.
        var admitted = 0
        /// The waiting jobs that are not ready, the oldest first.
        var unready = NumberQueue()
        /// The place among the sources with a job of the user that may become ready; nil if there is no such job.
        var turn: UInt64?
    }

    private var jobs: [UInt64: Job] = [:]
    /// The same jobs, by their owners.
    private var waiting = WaitingJobs()
    private var sources: [UTF8Text: Source] = [:]
    private var accounts: [UTF8Text: Account] = [:]
    private var pairs: [JobOwner: Pair] = [:]
    /// The sources with a job that may run; the first one has the next turn.
    private var rotation = NameQueue()
    /// The number of waiting jobs that may run, if there are as many free slots.
    package private(set) var runnable = 0

    private let limit: Int
    private let pairLimit: Int
    private let unlimitedSource: UTF8Text

    /// - Parameters:
    ///   - slots: The number of jobs that run at a time. Half of them may run for one source, as many for one user, and half
    ///     of these for one user from one source; each at least one.
    ///   - unlimitedSource: The source without a limit of its own, for example that of logins that did not come over a
    ///     network.
    package init(slots: Int, unlimitedSource: String) {
        limit = Self.limit(ofSlots: slots)
        pairLimit = Self.limit(ofSlots: limit)
        self.unlimitedSource = UTF8Text(unlimitedSource)
    }

    /// Returns the number of jobs of one source, or of one user, that may run at a time.
    ///
    /// - Parameter slots: The number of all jobs that run at a time.
    /// - Returns: Half of the slots, and at least 1.
    package static func limit(ofSlots slots: Int) -> Int { max(1, slots / 2) }

    /// The number of waiting jobs.
    package var count: Int { jobs.count }

    /// The job that has waited longest; nil if none waits.
    package var oldest: UInt64? { waiting.oldest }

    /// True if no job waits or runs, and nothing is kept of earlier ones.
    var isUnused: Bool {
        jobs.isEmpty && waiting.isEmpty && sources.isEmpty && accounts.isEmpty && pairs.isEmpty && rotation.isEmpty
            && runnable == 0
    }

    /// Returns whether a new job may run at once if there is a free slot for it and the jobs that may run.
    package func canRun(_ owner: JobOwner) -> Bool {
        let source = sources[owner.source]
        guard (source?.running ?? 0) + (source?.ready.count ?? 0) < limit(of: owner.source) else { return false }
        guard let account = owner.account else { return true }
        return accounts[account]?.admitted ?? 0 < limit && pairs[owner]?.admitted ?? 0 < pairLimit(of: owner)
    }

    /// Returns whether a new job exceeds a limit for waiting jobs.
    ///
    /// Jobs that a free slot can take at once do not count.
    ///
    /// - Parameters:
    ///   - owner: The owner of the new job.
    ///   - limit: The maximum number of waiting jobs.
    ///   - free: The number of free slots.
    /// - Returns: True if the job, or another one, must be rejected.
    package func isFull(for owner: JobOwner, limit: Int, free: Int) -> Bool {
        guard count >= limit else { return false }
        let starting = min(runnable, free)
        if starting < free, canRun(owner) { return false }
        return count - starting >= limit
    }

    /// Returns the waiting job to be rejected for a new job when the queue is full; nil if the new job is to be rejected.
    ///
    /// The source or the user with the most waiting jobs loses one. If it is a user, the job is one of the source with the
    /// most waiting jobs of this user, so that a source that fills the queue does not cost the user the jobs from elsewhere.
    ///
    /// - Parameters:
    ///   - owner: The owner of the new job.
    ///   - cancelsOldest: True to reject the oldest job of the source or user with the most waiting jobs. False to reject
    ///     the newest job of that source or user if it has more jobs than the source and the user of the new job, of which
    ///     the new job is one. If the user of the new job has the most, the newest job of the source with the most jobs of
    ///     this user is rejected if it has more of them than the source of the new job. Otherwise the new job is rejected.
    /// - Returns: The job.
    package func jobToReject(for owner: JobOwner, cancelsOldest: Bool) -> UInt64? {
        waiting.jobToReject(for: owner, cancelsOldest: cancelsOldest)
    }

    // MARK: Changes

    /// Adds a waiting job.
    ///
    /// - Parameters:
    ///   - number: The number of the job, which is greater than those of all earlier jobs.
    ///   - owner: The owner.
    package mutating func append(_ number: UInt64, of owner: JobOwner) {
        jobs[number] = Job(owner: owner, isReady: owner.account == nil)
        waiting.append(number, of: owner)
        guard let account = owner.account else {
            change(owner.source) { $0.ready.append(number) }
            return
        }
        pairs[owner, default: Pair()].unready.append(number)
        offer(owner, account: account)
        admit(account)
    }

    /// Removes a waiting job.
    ///
    /// Another job of the same user may then be allowed to run.
    package mutating func remove(_ number: UInt64) {
        guard let job = jobs.removeValue(forKey: number) else { return }
        waiting.remove(number, of: job.owner)
        if job.isReady { change(job.owner.source) { $0.ready.remove(number) } }
        guard let account = job.owner.account else { return }
        if job.isReady {
            release(job.owner, account: account)
            return
        }
        pairs[job.owner]?.unready.remove(number)
        if let pair = pairs[job.owner], pair.unready.isEmpty, let turn = pair.turn {
            pairs[job.owner]?.turn = nil
            accounts[account]?.rotation.remove(turn)
        }
        forgetIfUnused(job.owner, account: account)
    }

    /// Removes the job whose turn it is, and counts it as running until ``end(of:)``.
    ///
    /// - Returns: The job; nil if no waiting job may run.
    package mutating func takeNext() -> UInt64? {
        guard let name = rotation.popFirst() else { return nil }
        var taken: UInt64?
        change(name) { source in
            source.turn = nil
            taken = source.ready.popFirst()
            if taken != nil { source.running += 1 }
        }
        guard let taken, let job = jobs.removeValue(forKey: taken) else { return nil }
        waiting.remove(taken, of: job.owner)
        return taken
    }

    /// Counts a job as running that has not waited, until ``end(of:)``.
    package mutating func begin(_ owner: JobOwner) {
        change(owner.source) { $0.running += 1 }
        guard let account = owner.account else { return }
        accounts[account, default: Account()].admitted += 1
        pairs[owner, default: Pair()].admitted += 1
    }

    /// Counts the end of a running job.
    ///
    /// Several waiting jobs may then be allowed to run: one of the same source, and one of the same user.
    package mutating func end(of owner: JobOwner) {
        change(owner.source) { $0.running -= 1 }
        if let account = owner.account { release(owner, account: account) }
    }

    // MARK: Limits

    private func limit(of source: UTF8Text) -> Int { source == unlimitedSource ? .max : limit }

    private func pairLimit(of owner: JobOwner) -> Int { owner.source == unlimitedSource ? .max : pairLimit }

    /// Changes a source, and what depends on the number of its jobs that may run.
    private mutating func change(_ name: UTF8Text, _ body: (inout Source) -> Void) {
        let limit = limit(of: name)
        var source = sources.removeValue(forKey: name) ?? Source()
        runnable -= min(source.ready.count, limit - source.running)
        body(&source)
        let own = min(source.ready.count, limit - source.running)
        runnable += own
        if own > 0, source.turn == nil {
            source.turn = rotation.append(name)
        } else if own == 0, let turn = source.turn {
            source.turn = nil
            rotation.remove(turn)
        }
        if source.running > 0 || !source.ready.isEmpty { sources[name] = source }
    }

    /// Gives a source a turn among those of a user, if a job of it may become ready.
    private mutating func offer(_ owner: JobOwner, account: UTF8Text) {
        guard let pair = pairs[owner], pair.turn == nil, !pair.unready.isEmpty, pair.admitted < pairLimit(of: owner)
        else { return }
        pairs[owner]?.turn = accounts[account, default: Account()].rotation.append(owner.source)
    }

    /// Makes jobs of a user ready, as many as the user may have.
    private mutating func admit(_ account: UTF8Text) {
        while accounts[account]?.admitted ?? limit < limit, let source = accounts[account]?.rotation.popFirst() {
            let owner = JobOwner(source: source, account: account)
            pairs[owner]?.turn = nil
            guard let number = pairs[owner]?.unready.popFirst() else { continue }
            pairs[owner]?.admitted += 1
            accounts[account]?.admitted += 1
            offer(owner, account: account)
            jobs[number]?.isReady = true
            change(source) { $0.ready.append(number) }
        }
    }

    /// Counts the end of a job that was ready or has run.
    private mutating func release(_ owner: JobOwner, account: UTF8Text) {
        pairs[owner]?.admitted -= 1
        accounts[account]?.admitted -= 1
        offer(owner, account: account)
        admit(account)
        forgetIfUnused(owner, account: account)
    }

    private mutating func forgetIfUnused(_ owner: JobOwner, account: UTF8Text) {
        if let pair = pairs[owner], pair.admitted == 0, pair.unready.isEmpty { pairs[owner] = nil }
        if let state = accounts[account], state.admitted == 0, state.rotation.isEmpty { accounts[account] = nil }
    }
}

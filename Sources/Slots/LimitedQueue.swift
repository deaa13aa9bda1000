// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import Bytes
internal import DequeModule

/// The client and the user of a job; the running jobs of each are limited.
package struct JobOwner: Sendable, Hashable {
    /// The source (client address) of the job.
    package let source: UTF8Text
    /// The user, in one spelling; nil if the job is not for one user.
    package let account: UTF8Text?

    /// - Parameters:
    ///   - source: The source of the job.
    ///   - account: The name of the user, in one spelling for all spellings that the realm accepts; nil if the job is not
    ///     for one user.
    package init(source: String, account: String?) {
        self.source = UTF8Text(source)
        self.account = account.map { UTF8Text($0) }
    }
}

/// Waiting jobs, and the number of the jobs that run for each source and each user.
///
/// The sources take turns. Half of the slots may be held by one source, and half by one user, of which one source may hold
/// half. So neither one client nor the logins of one user can hold all slots, whatever makes these logins slow, and a client
/// cannot use up what another user may hold.
///
/// A job of a user waits first until its user may have one more job, then for the turn of its source. The sources of one user
/// take turns, too. The time of each operation does not grow with the number of waiting jobs, except that of
/// ``remove(_:)`` and ``jobToReject(for:cancelsOldest:)``.
package struct LimitedQueue: Sendable {
    private struct Job {
        let owner: JobOwner
        /// True if the job waits only for the turn of its source.
        var isReady: Bool
    }

    private struct Source {
        var running = 0
        /// All waiting jobs, the oldest first.
        var waiting: Deque<UInt64> = []
        /// Those that wait only for the turn of the source.
        var ready: Deque<UInt64> = []
        var isInRotation = false
    }

    private struct Account {
        /// The number of running jobs and of those that are ready.
        var admitted = 0
        /// All waiting jobs, the oldest first.
        var waiting: Deque<UInt64> = []
        /// The sources with a job that may become ready; the first one has the next turn.
        var rotation: Deque<UTF8Text> = []
    }

    /// The jobs of one source for one user.
    private struct Pair {
        var admitted = 0
        /// The waiting jobs that are not ready, the oldest first.
        var waiting: Deque<UInt64> = []
        var isInRotation = false
    }

    private var jobs: [UInt64: Job] = [:]
    /// The waiting jobs, the oldest first, and jobs that wait no more.
    private var order: Deque<UInt64> = []
    private var sources: [UTF8Text: Source] = [:]
    private var accounts: [UTF8Text: Account] = [:]
    private var pairs: [JobOwner: Pair] = [:]
    /// The sources with a job that may run; the first one has the next turn.
    private var rotation: Deque<UTF8Text> = []
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
    package var oldest: UInt64? {
        mutating get {
            while let first = order.first {
                if jobs[first] != nil { return first }
                order.removeFirst()
            }
            return nil
        }
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
    /// - Parameters:
    ///   - owner: The owner of the new job.
    ///   - cancelsOldest: True to reject the oldest job of the source or user with the most waiting jobs. False to reject the
    ///     new job or, if another source or user has more waiting jobs than those of the new job, the newest job of that one.
    /// - Returns: The job.
    package func jobToReject(for owner: JobOwner, cancelsOldest: Bool) -> UInt64? {
        var longest: Deque<UInt64> = []
        for (_, source) in sources where source.waiting.count > longest.count { longest = source.waiting }
        for (_, account) in accounts where account.waiting.count > longest.count { longest = account.waiting }
        if cancelsOldest { return longest.first }
        let ofAccount = owner.account.flatMap { accounts[$0]?.waiting.count } ?? 0
        let own = max(sources[owner.source]?.waiting.count ?? 0, ofAccount)
        return longest.count > own + 1 ? longest.last : nil
    }

    // MARK: Changes

    /// Adds a waiting job.
    ///
    /// - Parameters:
    ///   - number: The number of the job, which is greater than those of all earlier jobs.
    ///   - owner: The owner.
    package mutating func append(_ number: UInt64, of owner: JobOwner) {
        if order.count > 2 * count + 64 { order.removeAll { jobs[$0] == nil } }
        order.append(number)
        jobs[number] = Job(owner: owner, isReady: owner.account == nil)
        change(owner.source) { source in
            source.waiting.append(number)
            if owner.account == nil { source.ready.append(number) }
        }
        guard let account = owner.account else { return }
        accounts[account, default: Account()].waiting.append(number)
        pairs[owner, default: Pair()].waiting.append(number)
        offer(owner, account: account)
        admit(account)
    }

    /// Removes a waiting job.
    ///
    /// Another job of the same user may then be allowed to run.
    package mutating func remove(_ number: UInt64) {
        guard let job = jobs.removeValue(forKey: number) else { return }
        change(job.owner.source) { source in
            source.waiting.removeAscending(number)
            if job.isReady, let place = source.ready.firstIndex(of: number) { source.ready.remove(at: place) }
        }
        guard let account = job.owner.account else { return }
        accounts[account]?.waiting.removeAscending(number)
        if job.isReady {
            release(job.owner, account: account)
            return
        }
        pairs[job.owner]?.waiting.removeAscending(number)
        if let pair = pairs[job.owner], pair.waiting.isEmpty, pair.isInRotation {
            pairs[job.owner]?.isInRotation = false
            accounts[account]?.rotation.removeAll { $0 == job.owner.source }
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
            source.isInRotation = false
            taken = source.ready.popFirst()
            guard let taken else { return }
            source.waiting.removeAscending(taken)
            source.running += 1
        }
        guard let taken, let job = jobs.removeValue(forKey: taken) else { return nil }
        if let account = job.owner.account { accounts[account]?.waiting.removeAscending(taken) }
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
        if own > 0, !source.isInRotation {
            source.isInRotation = true
            rotation.append(name)
        } else if own == 0, source.isInRotation {
            source.isInRotation = false
            rotation.removeAll { $0 == name }
        }
        if source.running > 0 || !source.waiting.isEmpty { sources[name] = source }
    }

    /// Gives a source a turn among those of a user, if a job of it may become ready.
    private mutating func offer(_ owner: JobOwner, account: UTF8Text) {
        guard let pair = pairs[owner], !pair.isInRotation, !pair.waiting.isEmpty, pair.admitted < pairLimit(of: owner)
        else { return }
        pairs[owner]?.isInRotation = true
        accounts[account]?.rotation.append(owner.source)
    }

    /// Makes jobs of a user ready, as many as the user may have.
    private mutating func admit(_ account: UTF8Text) {
        while accounts[account]?.admitted ?? limit < limit, let source = accounts[account]?.rotation.popFirst() {
            let owner = JobOwner(source: source, account: account)
            pairs[owner]?.isInRotation = false
            guard let number = pairs[owner]?.waiting.popFirst() else { continue }
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
        if let pair = pairs[owner], pair.admitted == 0, pair.waiting.isEmpty { pairs[owner] = nil }
        if let state = accounts[account], state.admitted == 0, state.waiting.isEmpty { accounts[account] = nil }
    }
}

extension JobOwner {
    fileprivate init(source: UTF8Text, account: UTF8Text) {
        self.source = source
        self.account = account
    }
}

extension Deque<UInt64> {
    /// Removes a number from ascending ones.
    fileprivate mutating func removeAscending(_ number: UInt64) {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        if low < count, self[low] == number { remove(at: low) }
    }
}

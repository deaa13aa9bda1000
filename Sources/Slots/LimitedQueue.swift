// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import Bytes
internal import DequeModule

/// The client and the user of a job; the running jobs of each are limited.
package struct JobOwner: Sendable {
    /// The source (client address) of the job.
    package let source: String
    /// The user, in one spelling; nil if the job is not for one user.
    package let account: UTF8Text?

    /// - Parameters:
    ///   - source: The source of the job.
    ///   - account: The name of the user, in one spelling for all spellings that the realm accepts; nil if the job is not
    ///     for one user.
    package init(source: String, account: String?) {
        self.source = source
        self.account = account.map { UTF8Text($0) }
    }
}

/// The waiting jobs of each source, and the number of the jobs that run for each source and each user.
///
/// The sources take turns. A source that has as many running jobs as it may have misses its turn, and a user's jobs are
/// passed over while as many of them run. So neither one client nor the logins of one user can hold all slots, whatever
/// makes these logins slow.
package struct LimitedQueue: Sendable {
    private var jobs = FairQueue()
    /// The sources with waiting jobs; the first one has the next turn.
    private var rotation: [String] = []
    /// The users of the waiting jobs.
    private var accounts: [UInt64: UTF8Text] = [:]
    private var runningOfSource: [String: Int] = [:]
    private var runningOfAccount: [UTF8Text: Int] = [:]
    private let limit: Int
    private let unlimitedSource: String

    /// - Parameters:
    ///   - slots: The number of jobs that run at a time. Half of them, and at least one, may run for one source, and as
    ///     many for one user.
    ///   - unlimitedSource: The source without a limit, for example that of logins that did not come over a network.
    package init(slots: Int, unlimitedSource: String) {
        limit = Self.limit(ofSlots: slots)
        self.unlimitedSource = unlimitedSource
    }

    /// Returns the number of jobs of one source, or of one user, that may run at a time.
    ///
    /// - Parameter slots: The number of all jobs that run at a time.
    /// - Returns: Half of the slots, and at least 1.
    package static func limit(ofSlots slots: Int) -> Int { max(1, slots / 2) }

    /// The number of waiting jobs.
    package var count: Int { jobs.count }

    /// The first job of each source.
    package var firstJobs: [UInt64] { jobs.firstJobs }

    /// Returns the number of jobs of a source that may run besides those that run.
    private func room(of source: String) -> Int {
        source.hasBytes(of: unlimitedSource) ? Int.max : max(0, limit - runningOfSource[source, default: 0])
    }

    private func room(of account: UTF8Text?) -> Int {
        guard let account else { return Int.max }
        return max(0, limit - runningOfAccount[account, default: 0])
    }

    /// Returns whether a new job may run at once if a slot is free.
    package func canRun(_ owner: JobOwner) -> Bool { room(of: owner.source) > 0 && room(of: owner.account) > 0 }

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
        var ready = 0
        var readyOfSource = 0
        var readyOfAccount: [UTF8Text: Int] = [:]
        for source in rotation where ready < free {
            var left = min(room(of: source), free - ready)
            for number in jobs.jobs(of: source) where left > 0 {
                if let account = accounts[number] {
                    guard room(of: account) > readyOfAccount[account, default: 0] else { continue }
                    readyOfAccount[account, default: 0] += 1
                }
                left -= 1
                ready += 1
                if source.hasBytes(of: owner.source) { readyOfSource += 1 }
            }
        }
        let ofAccount = owner.account.map { readyOfAccount[$0, default: 0] } ?? 0
        if ready < free, room(of: owner.source) > readyOfSource, room(of: owner.account) > ofAccount { return false }
        return count - ready >= limit
    }

    /// Returns the job to reject when the queue is full, as `FairQueue` does.
    package func jobToReject(for source: String, cancelsOldest: Bool) -> UInt64? {
        jobs.jobToReject(for: source, cancelsOldest: cancelsOldest)
    }

    /// Adds a waiting job.
    package mutating func append(_ number: UInt64, of owner: JobOwner) {
        if jobs.count(of: owner.source) == 0 { rotation.append(owner.source) }
        jobs.append(number, of: owner.source)
        accounts[number] = owner.account
    }

    /// Removes a waiting job.
    package mutating func remove(_ number: UInt64, of owner: JobOwner) {
        guard jobs.remove(number, of: owner.source) else { return }
        accounts[number] = nil
        if jobs.count(of: owner.source) == 0 { rotation.removeAll { $0.hasBytes(of: owner.source) } }
    }

    /// Removes the job whose turn it is, and counts it as running until ``end(of:)``.
    ///
    /// - Returns: The job; nil if no waiting job may run.
    package mutating func takeNext() -> UInt64? {
        for (place, source) in rotation.enumerated() where room(of: source) > 0 {
            guard let number = jobs.jobs(of: source).first(where: { room(of: accounts[$0]) > 0 }) else { continue }
            _ = jobs.remove(number, of: source)
            rotation.remove(at: place)
            if jobs.count(of: source) > 0 { rotation.append(source) }
            countRunning(source: source, account: accounts.removeValue(forKey: number))
            return number
        }
        return nil
    }

    /// Counts a job as running that has not waited, until ``end(of:)``.
    package mutating func begin(_ owner: JobOwner) { countRunning(source: owner.source, account: owner.account) }

    private mutating func countRunning(source: String, account: UTF8Text?) {
        runningOfSource[source, default: 0] += 1
        if let account { runningOfAccount[account, default: 0] += 1 }
    }

    /// Counts the end of a running job.
    package mutating func end(of owner: JobOwner) {
        let ofSource = runningOfSource[owner.source, default: 0] - 1
        runningOfSource[owner.source] = ofSource > 0 ? ofSource : nil
        guard let account = owner.account else { return }
        let ofAccount = runningOfAccount[account, default: 0] - 1
        runningOfAccount[account] = ofAccount > 0 ? ofAccount : nil
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The waiting jobs of all sources and users, with the choice of the job that is rejected when there are too many.
struct WaitingJobs: Sendable {
    /// All jobs, the oldest first.
    private var order = NumberQueue()
    /// The jobs of each source, the oldest first.
    private var bySource: [UTF8Text: NumberQueue] = [:]
    /// The jobs of each source for each user, the oldest first.
    private var byOwner: [JobOwner: NumberQueue] = [:]
    private var sources = Ranking()
    private var accounts = Ranking()
    /// The sources of the jobs of each user.
    private var sourcesByAccount: [UTF8Text: Ranking] = [:]

    /// True if nothing is kept.
    var isEmpty: Bool {
        order.isEmpty && bySource.isEmpty && byOwner.isEmpty && sources.isEmpty && accounts.isEmpty
            && sourcesByAccount.isEmpty
    }

    /// The job that has waited longest; nil if none waits.
    var oldest: UInt64? { order.first }

    /// Adds a job, whose number is greater than those of all earlier jobs.
    mutating func append(_ number: UInt64, of owner: JobOwner) {
        order.append(number)
        bySource[owner.source, default: NumberQueue()].append(number)
        sources.add(owner.source)
        guard let account = owner.account else { return }
        byOwner[owner, default: NumberQueue()].append(number)
        accounts.add(account)
        sourcesByAccount[account, default: Ranking()].add(owner.source)
    }

    /// Removes a job.
    mutating func remove(_ number: UInt64, of owner: JobOwner) {
        order.remove(number)
        bySource[owner.source]?.remove(number)
        if bySource[owner.source]?.isEmpty == true { bySource[owner.source] = nil }
        sources.remove(owner.source)
        guard let account = owner.account else { return }
        byOwner[owner]?.remove(number)
        if byOwner[owner]?.isEmpty == true { byOwner[owner] = nil }
        accounts.remove(account)
        sourcesByAccount[account]?.remove(owner.source)
        if sourcesByAccount[account]?.isEmpty == true { sourcesByAccount[account] = nil }
    }

    // MARK: A full queue

    /// Returns the job to be rejected for a new job; nil if the new job is to be rejected.
    ///
    /// If several sources have the most jobs, or several users, the newest job is one of the source or user that has come
    /// to this number last. The oldest job is one of the source of the new job, or else one of the source or user that has
    /// come to this number first. A source goes before a user.
    ///
    /// - Parameters:
    ///   - owner: The owner of the new job.
    ///   - cancelsOldest: See ``LimitedQueue/jobToReject(for:cancelsOldest:)``.
    /// - Returns: The job.
    func jobToReject(for owner: JobOwner, cancelsOldest: Bool) -> UInt64? {
        let most = max(sources.maximum, accounts.maximum)
        if cancelsOldest {
            if sources.maximum == most { return longest(of: sources, for: owner).flatMap { bySource[$0]?.first } }
            return accounts.first.flatMap { oldest(ofUser: $0, for: owner) }
        }
        // The new job counts, because it would be one of those that wait.
        let ofSource = sources.count(of: owner.source) + 1
        let ofAccount = owner.account.map { accounts.count(of: $0) + 1 } ?? 0
        if most > max(ofSource, ofAccount) {
            if sources.maximum == most { return sources.last.flatMap { bySource[$0]?.last } }
            return accounts.last.flatMap { newest(ofUser: $0) }
        }
        guard most > ofSource, let account = owner.account, let sources = sourcesByAccount[account],
            sources.maximum > sources.count(of: owner.source) + 1
        else { return nil }
        return newest(ofUser: account)
    }

    /// Returns the source with the most jobs; of several, that of the new job.
    private func longest(of sources: Ranking, for owner: JobOwner) -> UTF8Text? {
        sources.count(of: owner.source) == sources.maximum ? owner.source : sources.first
    }

    /// Returns the oldest job of the source with the most jobs of a user.
    private func oldest(ofUser account: UTF8Text, for owner: JobOwner) -> UInt64? {
        sourcesByAccount[account].flatMap { longest(of: $0, for: owner) }
            .flatMap { byOwner[JobOwner(source: $0, account: account)]?.first }
    }

    /// Returns the newest job of the source with the most jobs of a user.
    private func newest(ofUser account: UTF8Text) -> UInt64? {
        sourcesByAccount[account]?.last.flatMap { byOwner[JobOwner(source: $0, account: account)]?.last }
    }
}

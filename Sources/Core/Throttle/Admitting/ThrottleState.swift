// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The state of a throttle, whose mutex is held during each call, so that a decision and its record are one step.
///
/// An attempt has several keys: the accounts of its user name in the realms that may be tried, and its source. A key is
/// full if the sum of its failures and running attempts has reached the limit. If one of its keys is full, the attempt
/// waits at that key and has no reservation at any key. Otherwise it gets reservations at all its keys that are not
/// locked, in one step. So two attempts never wait for each other.
///
/// For each key, the sum of failures and running attempts never exceeds the limit. Therefore a locked key has no running
/// attempts. A key at which attempts wait has at least one running attempt.
///
/// An attempt that waits for its user is not running at its accounts any more: it is a failure of each, until it is
/// settled as something else. Otherwise a stranger who leaves sign-ins open at a question would keep an account full,
/// which is a lock that no administrator can see or clear. At its source it goes on running, because no success takes
/// the failures of a source back.
struct ThrottleState: Sendable {
    let settings: ThrottleSettings
    var accounts: FailureTable
    var sources: FailureTable
    /// The running attempts of each key, kept here because a failure table may evict the record of such a key.
    private var running: [ThrottleKey: Int] = [:]
    private var queues: [ThrottleKey: [UInt64]] = [:]
    private var waiting: [UInt64: WaitingAttempt] = [:]
    /// The attempts that were cancelled before their wait began.
    private var cancelled: Set<UInt64> = []
    private var lastNumber: UInt64 = 0
    /// The number of answers that are being delayed.
    var delayedAnswers = 0
    var storing = StoringState()
    var presentedPasswords: PresentedPasswords

    init(_ settings: ThrottleSettings, isStored: Bool) {
        self.settings = settings
        presentedPasswords = PresentedPasswords(window: settings.window.boundedNanoseconds, capacity: settings.accounts)
        func table(limit: Int, window: Duration, lock: Duration, capacity: Int) -> FailureTable {
            let (window, lock) = (window.boundedNanoseconds, lock.boundedNanoseconds)
            return FailureTable(.init(limit: limit, window: window, lock: lock, capacity: capacity), isStored: isStored)
        }
        accounts = table(
            limit: settings.failures,
            window: settings.window,
            lock: settings.lock,
            capacity: settings.accounts
        )
        sources = table(
            limit: settings.sourceFailures,
            window: settings.sourceWindow,
            lock: settings.sourceLock,
            capacity: settings.sources
        )
    }

    var pending: (running: Int, waiting: Int) { (running.values.reduce(0, +), waiting.count) }

    func statistics(at now: Int) -> ThrottleStatistics {
        ThrottleStatistics(
            lockedAccounts: accounts.lockedCount(at: now),
            lockedNetworks: sources.lockedCount(at: now),
            waitingAttempts: waiting.count
        )
    }

    // MARK: Before the login

    private enum Availability {
        /// The source is locked, or every account of an attempt without a source.
        case locked
        /// A key is full.
        case full(ThrottleKey)
        /// The keys at which the attempt gets reservations.
        case available([ThrottleKey])
    }

    private func availability(for attempt: Attempt, at now: Int) -> Availability {
        if let source = attempt.sourceKey, isLocked(source, at: now) { return .locked }
        // If one account is locked, the realm of another account may still accept. No attempt waits for the end of a lock.
        // If all are locked, the attempt still counts for its source.
        var keys = attempt.accounts.filter { !isLocked($0, at: now) }
        if let source = attempt.sourceKey { keys.append(source) }
        if keys.isEmpty { return .locked }
        guard let full = keys.last(where: { isFull($0, at: now) }) else { return .available(keys) }
        return .full(full)
    }

    private func isLocked(_ key: ThrottleKey, at now: Int) -> Bool {
        if case .locked = status(key, at: now).status { true } else { false }
    }

    private func isFull(_ key: ThrottleKey, at now: Int) -> Bool {
        let (limit, status) = status(key, at: now)
        switch status {
        case .locked: return false
        case .open(let failures): return limit > 0 && failures + running[key, default: 0] >= limit
        }
    }

    /// Decides on an attempt; nil if it has to wait.
    mutating func admit(_ attempt: Attempt, at now: Int) -> Admission? {
        switch availability(for: attempt, at: now) {
        case .locked: return denial(of: attempt, at: now)
        case .full: return nil
        case .available(let keys):
            for key in keys { running[key, default: 0] += 1 }
            let locked = attempt.accounts.filter { !keys.contains($0) }
            return Admission(reserved: keys, denied: delays(for: locked, at: now))
        }
    }

    /// Returns a decision with which the attempt cannot succeed at any account.
    func denial(of attempt: Attempt, at now: Int) -> Admission {
        Admission(reserved: [], denied: delays(for: attempt.accounts, at: now))
    }

    /// Returns the numbers of failures that give the delays at accounts where the attempt is not counted: those that caused
    /// the lock, or one more than there are, as if this attempt were counted.
    private func delays(for keys: [ThrottleKey], at now: Int) -> [ThrottleKey: Int] {
        var delays: [ThrottleKey: Int] = [:]
        for key in keys {
            switch accounts.status(key, at: now) {
            case .locked(let failures): delays[key] = failures
            case .open(let failures): delays[key] = failures + 1
            }
        }
        return delays
    }

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Decides on an attempt; nil if it was added to the waiting attempts.
    mutating func admitOrWait(
        _ attempt: Attempt,
        number: UInt64,
        continuation: CheckedContinuation<Admission, Never>,
        at now: Int
    ) -> Admission? {
        if cancelled.remove(number) != nil { return denial(of: attempt, at: now) }
        guard case .full(let key) = availability(for: attempt, at: now) else { return admit(attempt, at: now) }
        let maximum = key == attempt.sourceKey ? settings.waitingPerSource : settings.waitingPerAccount
        guard waiting.count < settings.waiting, queues[key, default: []].count < maximum else {
            return denial(of: attempt, at: now)
        }
        waiting[number] = WaitingAttempt(attempt: attempt, continuation: continuation, key: key)
        queues[key, default: []].append(number)
        return nil
    }

    /// Ends the wait of an attempt that has timed out or was cancelled.
    mutating func endWait(_ number: UInt64, isCancelled: Bool, at now: Int) -> EndedWait? {
        guard let attempt = waiting.removeValue(forKey: number) else {
            if isCancelled { cancelled.insert(number) }
            return nil
        }
        queues[attempt.key]?.removeAll { $0 == number }
        if queues[attempt.key]?.isEmpty == true { queues[attempt.key] = nil }
        return EndedWait(continuation: attempt.continuation, admission: denial(of: attempt.attempt, at: now))
    }

    mutating func forgetCancellation(_ number: UInt64) { cancelled.remove(number) }

    // MARK: After the login

    /// The effects of a settled attempt.
    struct Settlement: Sendable {
        /// The number of failures including this attempt; 0 if it is not a failure.
        var failures = 0
        /// The keys that the attempt has locked.
        var locked: [ThrottleKey] = []
        /// The attempts whose wait has ended.
        var endedWaits: [EndedWait] = []
    }

    /// Counts a running attempt that waits for its user as a failure of its accounts; returns the failures, for
    /// ``settle(_:reserved:counted:results:at:)``, and the effects.
    mutating func countOpen(
        _ attempt: Attempt,
        reserved: [ThrottleKey],
        at now: Int
    ) -> (counted: [ThrottleKey: FailureTable.CountedFailure], effects: Settlement) {
        var counted: [ThrottleKey: FailureTable.CountedFailure] = [:]
        var effects = Settlement()
        for account in attempt.accounts where reserved.contains(account) {
            release(account)
            counted[account] = fail(account, by: attempt, at: now, locked: &effects.locked)
        }
        for key in counted.keys { effects.endedWaits += admitWaiting(for: key, at: now) }
        return (counted, effects)
    }

    private mutating func release(_ key: ThrottleKey) {
        let count = running[key, default: 0] - 1
        running[key] = count > 0 ? count : nil
    }

    /// Records the result of an attempt, and releases its reservations.
    ///
    /// `counted` are the failures that were counted while it waited for its user. The attempt is not counted for an account
    /// without a result, and only for its source at an account without a reservation.
    mutating func settle(
        _ attempt: Attempt,
        reserved: [ThrottleKey],
        counted: [ThrottleKey: FailureTable.CountedFailure] = [:],
        results: [(key: ThrottleKey, result: AttemptResult)],
        at now: Int
    ) -> Settlement {
        var settled = Settlement()
        for key in reserved where counted[key] == nil { release(key) }
        for account in attempt.accounts where reserved.contains(account) {
            let own = results.filter { $0.key == account }.map(\.result)
            // If a realm was tried twice, one account has several results. They count as one failure.
            if own.contains(.success) {
                accounts.clear(account)
            } else if own.contains(.failure) {
                // A failure that an administrator has cleared meanwhile is not counted again.
                let failure = counted[account] ?? fail(account, by: attempt, at: now, locked: &settled.locked)
                settled.failures = max(settled.failures, failure.failures)
            } else {
                if let failure = counted[account] { accounts.withdraw(failure, of: account, at: now) }
                for case .acceptedElsewhere(let password) in own
                where presentedPasswords.record(password, of: account, at: now) == .failure {
                    _ = fail(account, by: attempt, at: now, locked: &settled.locked)
                    break
                }
            }
        }
        // An attempt is one failure of its source, even if several realms have rejected it, and if its accounts are locked.
        let isGuessAtLock = results.contains { !reserved.contains($0.key) && $0.result == .failure }
        if settled.failures > 0 || isGuessAtLock, let source = attempt.source, let key = attempt.sourceKey {
            if sources.fail(key, owner: source.surroundingNetwork, at: now).hasLocked { settled.locked.append(key) }
        }
        for key in reserved { settled.endedWaits += admitWaiting(for: key, at: now) }
        return settled
    }

    private mutating func fail(
        _ account: ThrottleKey,
        by attempt: Attempt,
        at now: Int,
        locked: inout [ThrottleKey]
    ) -> FailureTable.CountedFailure {
        let failed = accounts.fail(account, owner: attempt.source, at: now)
        if failed.hasLocked { locked.append(account) }
        return failed.counted
    }

    /// Ends the waits of the attempts at a key, in order, until the key is full: an attempt is denied if its source has been
    /// locked meanwhile, and counts for its source if every account has.
    mutating func admitWaiting(for key: ThrottleKey, at now: Int) -> [EndedWait] {
        guard var queue = queues.removeValue(forKey: key) else { return [] }
        var endedWaits: [EndedWait] = []
        while let number = queue.first {
            guard var next = waiting[number] else {
                queue.removeFirst()
                continue
            }
            switch availability(for: next.attempt, at: now) {
            case .full(let full):
                if full == key {
                    queues[key] = queue
                    return endedWaits
                }
                // Another key of the attempt is full. From now on the attempt waits at that key.
                next.key = full
                waiting[number] = next
                queues[full, default: []].append(number)
            case .locked, .available:
                waiting[number] = nil
                let admission = admit(next.attempt, at: now) ?? denial(of: next.attempt, at: now)
                endedWaits.append(EndedWait(continuation: next.continuation, admission: admission))
            }
            queue.removeFirst()
        }
        return endedWaits
    }

    mutating func admitAllWaiting(at now: Int) -> [EndedWait] {
        Array(queues.keys).flatMap { admitWaiting(for: $0, at: now) }
    }

    /// Returns the limit and the status of a key, and not its table, which the caller would copy.
    private func status(_ key: ThrottleKey, at now: Int) -> (limit: Int, status: FailureTable.Status) {
        switch key {
        case .account: (accounts.rules.limit, accounts.status(key, at: now))
        case .source: (sources.rules.limit, sources.status(key, at: now))
        }
    }
}

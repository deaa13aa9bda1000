// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// The state of a throttle.
///
/// Each method is one step under its lock, so that a decision is recorded as it is made.
///
/// An attempt has several keys: the accounts of its name in the realms that may be tried, and its source. In one step
/// it reserves a place at all keys that are not locked, or none, and waits at one that is full. So two attempts never
/// wait for each other.
///
/// For each key, the sum of failures and running attempts never exceeds the limit. So a locked key has no running
/// attempts, and a key at which attempts wait has at least one.
struct ThrottleState: Sendable {
    let settings: ThrottleSettings
    var accounts: FailureTable
    var sources: FailureTable
    /// The number of running attempts.
    ///
    /// They are not in the failure tables, as a record that is needed must not be evicted.
    private var running: [ThrottleKey: Int] = [:]
    private var queues: [ThrottleKey: [UInt64]] = [:]
    private var waiting: [UInt64: WaitingAttempt] = [:]
    /// Attempts that were cancelled before they waited.
    private var cancelled: Set<UInt64> = []
    private var lastNumber: UInt64 = 0
    /// The number of answers that are delayed now.
    var delayedAnswers = 0
    var storing = StoringState()
    /// Wrong passwords in logins that another realm has accepted.
    var uncountedGuesses: UncountedGuesses

    init(_ settings: ThrottleSettings, isStored: Bool) {
        self.settings = settings
        uncountedGuesses = UncountedGuesses(window: settings.window.boundedNanoseconds, capacity: settings.accounts)
        accounts = FailureTable(
            FailureTable.Rules(
                limit: settings.failures,
                window: settings.window.boundedNanoseconds,
                lock: settings.lock.boundedNanoseconds,
                capacity: settings.accounts
            ),
            isStored: isStored
        )
        sources = FailureTable(
            FailureTable.Rules(
                limit: settings.sourceFailures,
                window: settings.sourceWindow.boundedNanoseconds,
                lock: settings.sourceLock.boundedNanoseconds,
                capacity: settings.sources
            ),
            isStored: isStored
        )
    }

    /// The number of running and of waiting attempts; for tests.
    var pending: (running: Int, waiting: Int) { (running.values.reduce(0, +), waiting.count) }

    // MARK: Before the login

    private enum Room {
        /// No account may succeed.
        case locked
        case none(ThrottleKey)
        case some([ThrottleKey])
    }

    private func room(for attempt: Attempt, at now: Int) -> Room {
        if let source = attempt.sourceKey, isLocked(source, at: now) { return .locked }
        // A locked account does not prevent another realm from accepting, and no attempt waits for it.
        var keys = attempt.accounts.filter { !isLocked($0, at: now) }
        if keys.isEmpty { return .locked }
        if let source = attempt.sourceKey { keys.append(source) }
        guard let full = keys.last(where: { isFull($0, at: now) }) else { return .some(keys) }
        return .none(full)
    }

    private func isLocked(_ key: ThrottleKey, at now: Int) -> Bool {
        switch status(key, at: now).status {
        case .locked: true
        case .open: false
        }
    }

    private func isFull(_ key: ThrottleKey, at now: Int) -> Bool {
        let (limit, status) = status(key, at: now)
        switch status {
        case .locked: return false
        case .open(let failures): return limit > 0 && failures + running[key, default: 0] >= limit
        }
    }

    /// Decides on an attempt.
    ///
    /// - Returns: The decision; nil if the attempt has to wait.
    mutating func admit(_ attempt: Attempt, at now: Int) -> Admission? {
        switch room(for: attempt, at: now) {
        case .locked: return closed(attempt, at: now)
        case .none: return nil
        case .some(let keys):
            for key in keys { running[key, default: 0] += 1 }
            let locked = attempt.accounts.filter { !keys.contains($0) }
            return Admission(reserved: keys, closed: delays(for: locked, at: now))
        }
    }

    /// The decision on an attempt that must not succeed.
    func closed(_ attempt: Attempt, at now: Int) -> Admission {
        Admission(reserved: [], closed: delays(for: attempt.accounts, at: now))
    }

    /// The numbers of failures that determine the delay at accounts where the attempt is not counted.
    ///
    /// For a locked account it is the number at the lock; otherwise the number that the next failure would reach.
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

    /// Decides on an attempt, or adds it to those that wait.
    ///
    /// - Returns: The decision; nil if it waits now.
    mutating func admitOrWait(
        _ attempt: Attempt,
        number: UInt64,
        continuation: CheckedContinuation<Admission, Never>,
        at now: Int
    ) -> Admission? {
        if cancelled.remove(number) != nil { return closed(attempt, at: now) }
        guard case .none(let key) = room(for: attempt, at: now) else { return admit(attempt, at: now) }
        let most = key == attempt.sourceKey ? settings.waitingPerSource : settings.waitingPerAccount
        guard waiting.count < settings.waiting, queues[key, default: []].count < most else {
            return closed(attempt, at: now)
        }
        waiting[number] = WaitingAttempt(attempt: attempt, continuation: continuation, key: key)
        queues[key, default: []].append(number)
        return nil
    }

    /// Ends the wait of an attempt that has timed out or was cancelled.
    mutating func giveUp(_ number: UInt64, isCancelled: Bool, at now: Int) -> Woken? {
        guard let attempt = waiting.removeValue(forKey: number) else {
            if isCancelled { cancelled.insert(number) }
            return nil
        }
        queues[attempt.key]?.removeAll { $0 == number }
        if queues[attempt.key]?.isEmpty == true { queues[attempt.key] = nil }
        return Woken(continuation: attempt.continuation, admission: closed(attempt.attempt, at: now))
    }

    mutating func forgetCancellation(_ number: UInt64) { cancelled.remove(number) }

    // MARK: After the login

    /// The effects of an attempt's end.
    struct Settled: Sendable {
        /// The number of failures including this attempt; 0 if it is not a failure.
        var failures = 0
        /// The keys that it has locked.
        var locked: [ThrottleKey] = []
        var woken: [Woken] = []
    }

    /// Records the result of an attempt that had places.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - reserved: The keys at which it had places.
    ///   - results: The results on accounts among them; on the others the attempt is not counted.
    ///   - now: The moment.
    /// - Returns: The effects.
    mutating func settle(
        _ attempt: Attempt,
        reserved: [ThrottleKey],
        results: [(key: ThrottleKey, result: AttemptResult)],
        at now: Int
    ) -> Settled {
        var settled = Settled()
        for key in reserved {
            let count = running[key, default: 0] - 1
            running[key] = count > 0 ? count : nil
        }
        for account in attempt.accounts where reserved.contains(account) {
            let own = results.filter { $0.key == account }.map(\.result)
            // A realm that was tried twice is one account and one failure.
            if own.contains(.success) {
                accounts.clear(account)
            } else if own.contains(.failure) {
                settled.failures = max(settled.failures, fail(account, by: attempt, at: now, locked: &settled.locked))
            } else {
                for case .uncounted(let guess) in own where !uncountedGuesses.record(guess, of: account, at: now) {
                    _ = fail(account, by: attempt, at: now, locked: &settled.locked)
                    break
                }
            }
        }
        // One attempt is one failure of its source, however many realms have rejected it.
        if settled.failures > 0, let source = attempt.source, let key = attempt.sourceKey {
            if sources.fail(key, owner: source.surroundingNetwork, at: now).hasLocked { settled.locked.append(key) }
        }
        for key in reserved { settled.woken += wake(key, at: now) }
        return settled
    }

    private mutating func fail(
        _ account: ThrottleKey,
        by attempt: Attempt,
        at now: Int,
        locked: inout [ThrottleKey]
    ) -> Int {
        let failed = accounts.fail(account, owner: attempt.source, at: now)
        if failed.hasLocked { locked.append(account) }
        return failed.failures
    }

    /// Admits attempts that wait at a key, in order, while there is room.
    mutating func wake(_ key: ThrottleKey, at now: Int) -> [Woken] {
        guard var queue = queues.removeValue(forKey: key) else { return [] }
        var woken: [Woken] = []
        while let number = queue.first {
            guard var next = waiting[number] else {
                queue.removeFirst()
                continue
            }
            switch room(for: next.attempt, at: now) {
            case .none(let full):
                if full == key {
                    queues[key] = queue
                    return woken
                }
                // There is room at this key and none at its other key: it waits there from now on.
                next.key = full
                waiting[number] = next
                queues[full, default: []].append(number)
            case .locked, .some:
                waiting[number] = nil
                let admission = admit(next.attempt, at: now) ?? closed(next.attempt, at: now)
                woken.append(Woken(continuation: next.continuation, admission: admission))
            }
            queue.removeFirst()
        }
        return woken
    }

    /// Admits waiting attempts, wherever there is room.
    mutating func wakeAll(at now: Int) -> [Woken] {
        Array(queues.keys).flatMap { wake($0, at: now) }
    }

    /// Both values are returned by one call, so that the tables are not copied.
    private func status(_ key: ThrottleKey, at now: Int) -> (limit: Int, status: FailureTable.Status) {
        switch key {
        case .account: (accounts.rules.limit, accounts.status(key, at: now))
        case .source: (sources.rules.limit, sources.status(key, at: now))
        }
    }
}

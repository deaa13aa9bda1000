// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// Everything a throttle remembers; each method is one step under its lock, so what is decided is recorded.
///
/// For an account as for a source, failures that count and attempts on their way are never more than the limit together.
/// So where a key is locked none of its attempts is on its way, and where attempts wait at least one is.
struct ThrottleState: Sendable {
    let settings: ThrottleSettings
    var accounts: Ledger
    var sources: Ledger
    /// How many attempts are on their way.
    ///
    /// Apart from the ledgers, so that no record that is needed can be pushed out.
    private var flights: [ThrottleKey: Int] = [:]
    private var queues: [ThrottleKey: [UInt64]] = [:]
    private var waiting: [UInt64: WaitingAttempt] = [:]
    /// Attempts that were cancelled before they waited.
    private var cancelled: Set<UInt64> = []
    private var lastNumber: UInt64 = 0
    /// How many answers are held back.
    var delayedAnswers = 0
    var storing = StoringState()

    init(_ settings: ThrottleSettings, isStored: Bool) {
        self.settings = settings
        accounts = Ledger(
            Ledger.Rules(
                limit: settings.failures,
                window: settings.window.nanoseconds,
                lock: settings.lock.nanoseconds,
                capacity: settings.accounts
            ),
            isStored: isStored
        )
        sources = Ledger(
            Ledger.Rules(
                limit: settings.sourceFailures,
                window: settings.sourceWindow.nanoseconds,
                lock: settings.sourceLock.nanoseconds,
                capacity: settings.sources
            ),
            isStored: isStored
        )
    }

    /// How many attempts are on their way or wait; for tests.
    var pending: (flights: Int, waiting: Int) { (flights.values.reduce(0, +), waiting.count) }

    // MARK: Before the walk

    private enum Room {
        case locked
        case none(ThrottleKey)
        case some
    }

    private func room(_ attempt: Attempt, _ now: Int) -> Room {
        var full: ThrottleKey?
        for key in attempt.keys {
            let (limit, standing) = standing(key, now)
            switch standing {
            // Where anything is locked there is no waiting for the other.
            case .locked: return .locked
            case .open(let failures):
                if limit > 0, failures + flights[key, default: 0] >= limit { full = key }
            }
        }
        return full.map(Room.none) ?? .some
    }

    /// Decides on an attempt, if it need not wait.
    mutating func admit(_ attempt: Attempt, _ now: Int) -> Admission? {
        switch room(attempt, now) {
        case .locked: return closed(attempt, now)
        case .none: return nil
        case .some:
            for key in attempt.keys { flights[key, default: 0] += 1 }
            return .open
        }
    }

    /// What is said to an attempt that may not succeed.
    ///
    /// It is delayed as the last failure before a lock was; where the account is not what is locked, as the next failure
    /// would be.
    func closed(_ attempt: Attempt, _ now: Int) -> Admission {
        switch accounts.standing(attempt.account, now) {
        case .locked(let failures): .closed(failures: failures)
        case .open(let failures): .closed(failures: failures + 1)
        }
    }

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Decides on an attempt, or has it wait.
    ///
    /// - Returns: The decision; nil if it waits now.
    mutating func admitOrWait(
        _ attempt: Attempt,
        _ number: UInt64,
        _ continuation: CheckedContinuation<Admission, Never>,
        _ now: Int
    ) -> Admission? {
        if cancelled.remove(number) != nil { return closed(attempt, now) }
        guard case .none(let key) = room(attempt, now) else { return admit(attempt, now) }
        let most = key == attempt.account ? settings.waitingPerAccount : settings.waitingPerSource
        guard waiting.count < settings.waiting, queues[key, default: []].count < most else {
            return closed(attempt, now)
        }
        waiting[number] = WaitingAttempt(attempt: attempt, continuation: continuation, key: key)
        queues[key, default: []].append(number)
        return nil
    }

    /// Ends the wait of an attempt whose time is over, or that nobody waits for.
    mutating func giveUp(_ number: UInt64, isCancelled: Bool, _ now: Int) -> Woken? {
        guard let attempt = waiting.removeValue(forKey: number) else {
            if isCancelled { cancelled.insert(number) }
            return nil
        }
        queues[attempt.key]?.removeAll { $0 == number }
        if queues[attempt.key]?.isEmpty == true { queues[attempt.key] = nil }
        return Woken(continuation: attempt.continuation, admission: closed(attempt.attempt, now))
    }

    mutating func forgetCancellation(_ number: UInt64) { cancelled.remove(number) }

    // MARK: After it

    /// What has followed from an attempt's end.
    struct Settled: Sendable {
        /// Which failure in a row it was; 0 if it was none.
        var failures = 0
        /// What it has locked.
        var locked: [ThrottleKey] = []
        var woken: [Woken] = []
    }

    /// Takes note of what came of an attempt that was open.
    mutating func settle(_ attempt: Attempt, _ result: AttemptResult, _ now: Int) -> Settled {
        var settled = Settled()
        for key in attempt.keys {
            let count = flights[key, default: 0] - 1
            flights[key] = count > 0 ? count : nil
        }
        switch result {
        case .neither: break
        case .success: accounts.clear(attempt.account)
        case .failure:
            let failed = accounts.fail(attempt.account, owner: attempt.source, now)
            settled.failures = failed.failures
            if failed.hasLocked { settled.locked.append(attempt.account) }
            if let source = attempt.source, let key = attempt.sourceKey {
                let failed = sources.fail(key, owner: source.neighbourhood, now)
                if failed.hasLocked { settled.locked.append(key) }
            }
        }
        for key in attempt.keys { settled.woken += wake(key, now) }
        return settled
    }

    /// Lets in those who wait for a key, in order, while there is room.
    mutating func wake(_ key: ThrottleKey, _ now: Int) -> [Woken] {
        guard var queue = queues.removeValue(forKey: key) else { return [] }
        var woken: [Woken] = []
        while let number = queue.first {
            guard var next = waiting[number] else {
                queue.removeFirst()
                continue
            }
            switch room(next.attempt, now) {
            case .none(let full):
                if full == key {
                    queues[key] = queue
                    return woken
                }
                // It has room here, and none at its other key: it waits there now.
                next.key = full
                waiting[number] = next
                queues[full, default: []].append(number)
            case .locked, .some:
                waiting[number] = nil
                let admission = admit(next.attempt, now) ?? closed(next.attempt, now)
                woken.append(Woken(continuation: next.continuation, admission: admission))
            }
            queue.removeFirst()
        }
        return woken
    }

    /// Lets in those who wait, wherever there is room.
    mutating func wakeAll(_ now: Int) -> [Woken] {
        Array(queues.keys).flatMap { wake($0, now) }
    }

    /// Asked of the ledger where it is: it is not to be copied for each question.
    private func standing(_ key: ThrottleKey, _ now: Int) -> (limit: Int, standing: Ledger.Standing) {
        switch key {
        case .account: (accounts.rules.limit, accounts.standing(key, now))
        case .source: (sources.rules.limit, sources.standing(key, now))
        }
    }
}

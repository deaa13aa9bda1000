// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The state of a throttle, whose mutex is held during each call, so that a decision and its record are one step.
///
/// A login has several keys: the accounts of its user name in the realms that may be tried, and its source. A key is
/// full if the sum of its failures and running logins has reached the limit. If one of its keys is full, the login
/// waits at that key and has no reservation at any key. Otherwise it gets reservations at all its keys that are not
/// locked, in one step. So two logins never wait for each other.
///
/// For each key, the sum of failures and running logins never exceeds the limit. Therefore a locked key has no running
/// logins. A key at which logins wait has at least one running login.
///
/// A login that waits for its user is not running at its accounts any more: it is a failure of each, until it is
/// settled as something else. Otherwise a stranger who leaves sign-ins open at a question would keep an account full,
/// which is a lock that no administrator can see or clear. At its source it goes on running, because no success takes
/// the failures of a source back.
struct ThrottleState: Sendable {
    let settings: ThrottleSettings
    var accounts: FailureTable
    var sources: FailureTable
    /// The running logins of each key, kept here because a failure table may evict the record of such a key.
    private(set) var running: [ThrottleKey: Int] = [:]
    private var queues: [ThrottleKey: [UInt64]] = [:]
    private var waiting: [UInt64: WaitingLogin] = [:]
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

    /// The table that counts the failures of a key.
    subscript(key: ThrottleKey) -> FailureTable {
        _read {
            switch key {
            case .account: yield accounts
            case .source: yield sources
            }
        }
        _modify {
            switch key {
            case .account: yield &accounts
            case .source: yield &sources
            }
        }
    }

    func statistics(at now: Int) -> ThrottleStatistics {
        ThrottleStatistics(
            lockedAccounts: accounts.lockedCount(at: now),
            lockedNetworks: sources.lockedCount(at: now),
            waitingAttempts: waiting.count
        )
    }

    // MARK: Before the login

    private enum Availability {
        /// The source is locked, or every account of a login without a source.
        case locked
        /// A key is full.
        case full(ThrottleKey)
        /// The keys at which the login gets reservations.
        case available([ThrottleKey])
    }

    private func availability(for login: Reservation, at now: Int) -> Availability {
        if let source = login.sourceKey, isLocked(source, at: now) { return .locked }
        // If one account is locked, the realm of another account may still accept. No login waits for the end of a lock.
        // If all are locked, the login still counts for its source.
        var keys = login.accounts.filter { !isLocked($0, at: now) }
        if let source = login.sourceKey { keys.append(source) }
        if keys.isEmpty { return .locked }
        guard let full = keys.last(where: { isFull($0, at: now) }) else { return .available(keys) }
        return .full(full)
    }

    private func isLocked(_ key: ThrottleKey, at now: Int) -> Bool {
        if case .locked = self[key].status(key, at: now) { true } else { false }
    }

    private func isFull(_ key: ThrottleKey, at now: Int) -> Bool {
        let limit = self[key].rules.limit
        switch self[key].status(key, at: now) {
        case .locked: return false
        case .open(let failures): return limit > 0 && failures + running[key, default: 0] >= limit
        }
    }

    /// Decides on a login; nil if it has to wait.
    mutating func admit(_ login: Reservation, at now: Int) -> Reservation? {
        switch availability(for: login, at: now) {
        case .locked: return denial(of: login, at: now)
        case .full: return nil
        case .available(let keys):
            for key in keys { running[key, default: 0] += 1 }
            var admitted = login
            admitted.reserved = keys
            admitted.denied = delays(for: login.accounts.filter { !keys.contains($0) }, at: now)
            return admitted
        }
    }

    /// Returns a reservation with which the login cannot succeed at any account.
    private func denial(of login: Reservation, at now: Int) -> Reservation {
        var denied = login
        denied.denied = delays(for: login.accounts, at: now)
        return denied
    }

    /// Returns the numbers of failures that give the delays at accounts where the login is not counted: those that caused
    /// the lock, or one more than there are, as if this login were counted.
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

    /// Decides on a login; nil if it was added to the waiting ones.
    mutating func admitOrWait(
        _ login: Reservation,
        number: UInt64,
        continuation: CheckedContinuation<Reservation, Never>,
        at now: Int
    ) -> Reservation? {
        if Task.isCancelled { return denial(of: login, at: now) }
        guard case .full(let key) = availability(for: login, at: now) else { return admit(login, at: now) }
        let maximum = key == login.sourceKey ? settings.waitingPerSource : settings.waitingPerAccount
        guard waiting.count < settings.waiting, queues[key, default: []].count < maximum else {
            return denial(of: login, at: now)
        }
        waiting[number] = WaitingLogin(reservation: login, continuation: continuation, key: key)
        queues[key, default: []].append(number)
        return nil
    }

    /// Ends the wait of a login that has timed out or was cancelled.
    mutating func endWait(_ number: UInt64, at now: Int) -> EndedWait? {
        guard let login = waiting.removeValue(forKey: number) else { return nil }
        queues[login.key]?.removeAll { $0 == number }
        if queues[login.key]?.isEmpty == true { queues[login.key] = nil }
        return EndedWait(continuation: login.continuation, reservation: denial(of: login.reservation, at: now))
    }

    // MARK: After the login

    /// Counts a running login that waits for its user as a failure of its accounts, until it is settled.
    mutating func countOpen(_ login: inout Reservation, at now: Int) -> Settlement {
        var effects = Settlement()
        for account in login.accounts where login.reserved.contains(account) {
            release(account)
            login.counted[account] = fail(account, by: login, at: now, locked: &effects.locked)
        }
        for key in login.counted.keys { effects.endedWaits += admitWaiting(for: key, at: now) }
        return effects
    }

    private mutating func release(_ key: ThrottleKey) {
        let count = running[key, default: 0] - 1
        running[key] = count > 0 ? count : nil
    }

    /// Records the result of a login, and releases its reservations.
    ///
    /// The login is not counted for an account without a result, and only for its source at an account without a
    /// reservation.
    mutating func settle(
        _ login: Reservation,
        results: [(key: ThrottleKey, result: AttemptResult)],
        at now: Int
    ) -> Settlement {
        var settled = Settlement()
        for key in login.reserved where login.counted[key] == nil { release(key) }
        for account in login.accounts where login.reserved.contains(account) {
            let own = results.filter { $0.key == account }.map(\.result)
            // If a realm was tried twice, one account has several results. They count as one failure.
            if own.contains(.success) {
                accounts.clear(account)
            } else if own.contains(.failure) {
                // A failure that an administrator has cleared meanwhile is not counted again.
                let failure = login.counted[account] ?? fail(account, by: login, at: now, locked: &settled.locked)
                settled.failures = max(settled.failures, failure.failures)
            } else {
                if let failure = login.counted[account] { accounts.withdraw(failure, of: account, at: now) }
                for case .acceptedElsewhere(let password) in own
                where presentedPasswords.record(password, of: account, at: now) == .failure {
                    _ = fail(account, by: login, at: now, locked: &settled.locked)
                    break
                }
            }
        }
        // A login is one failure of its source, even if several realms have rejected it, and if its accounts are locked.
        let isGuessAtLock = results.contains { !login.reserved.contains($0.key) && $0.result == .failure }
        if settled.failures > 0 || isGuessAtLock, let source = login.source, let key = login.sourceKey {
            if sources.fail(key, owner: source.surroundingNetwork, at: now).hasLocked { settled.locked.append(key) }
        }
        for key in login.reserved { settled.endedWaits += admitWaiting(for: key, at: now) }
        return settled
    }

    private mutating func fail(
        _ account: ThrottleKey,
        by login: Reservation,
        at now: Int,
        locked: inout [ThrottleKey]
    ) -> FailureTable.CountedFailure {
        let failed = accounts.fail(account, owner: login.source, at: now)
        if failed.hasLocked { locked.append(account) }
        return failed.counted
    }

    /// Ends the waits of the logins at a key, in order, until the key is full: a login is denied if its source has been
    /// locked meanwhile, and counts for its source if every account has.
    mutating func admitWaiting(for key: ThrottleKey, at now: Int) -> [EndedWait] {
        guard var queue = queues.removeValue(forKey: key) else { return [] }
        var endedWaits: [EndedWait] = []
        while let number = queue.first {
            guard var next = waiting[number] else {
                queue.removeFirst()
                continue
            }
            switch availability(for: next.reservation, at: now) {
            case .full(let full):
                if full == key {
                    queues[key] = queue
                    return endedWaits
                }
                // Another key of the login is full. From now on the login waits at that key.
                next.key = full
                waiting[number] = next
                queues[full, default: []].append(number)
            case .locked, .available:
                waiting[number] = nil
                let decided = admit(next.reservation, at: now) ?? denial(of: next.reservation, at: now)
                endedWaits.append(EndedWait(continuation: next.continuation, reservation: decided))
            }
            queue.removeFirst()
        }
        return endedWaits
    }

    mutating func admitAllWaiting(at now: Int) -> [EndedWait] {
        Array(queues.keys).flatMap { admitWaiting(for: $0, at: now) }
    }
}

/// The effects of a login that was counted or settled.
struct Settlement: Sendable {
    /// The number of failures including this login; 0 if it is not a failure.
    var failures = 0
    /// The keys that the login has locked.
    var locked: [ThrottleKey] = []
    /// The logins whose wait has ended.
    var endedWaits: [EndedWait] = []
}

/// A login that waits until another one is settled.
struct WaitingLogin: Sendable {
    let reservation: Reservation
    let continuation: CheckedContinuation<Reservation, Never>
    /// The account or source at which the login waits, because its failures and running logins have reached the limit.
    var key: ThrottleKey
}

/// The end of a login's wait; the login is resumed after the mutex of the throttle is released.
struct EndedWait: Sendable {
    let continuation: CheckedContinuation<Reservation, Never>
    let reservation: Reservation

    func resume() { continuation.resume(returning: reservation) }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit
internal import Synchronization

/// Counts failed logins by account and by source, delays refusals progressively, and locks for a time.
///
/// - An attempt is reserved before the login and settled after it. The failures and running attempts of a key together
///   never exceed the limit; further attempts wait, without a thread, until one is settled.
/// - A login at a locked account runs, answers and is delayed like one with a wrong password.
/// - A success clears the account's failures. It does not clear those of its source: an attacker with an account of their
///   own would have unlimited guesses.
/// - A login in the first of several realms that accepts is one attempt. If a realm accepts, the password that the
///   realms before it have rejected is not counted there and clears nothing; every further, different password is
///   counted.
/// - A login counts as a failure if a secret was presented and not accepted, whichever module rejected last. It does
///   not count if modules are unavailable without which no user can log in.
///
/// docs/lockout.md has the rules for administrators. Sources: pam_faillock (the rules of a lock), ASVS 6.1.1 and 6.3.1.
///
/// It may be used from any thread. It is made once and outlives configurations.
public final class FailureThrottle: LoginThrottle {
    /// The limits of failures, and their consequences.
    public let settings: ThrottleSettings
    let clock: any LoginClock
    let wall: @Sendable () -> Int
    let store: (any ThrottleStore)?
    let state: Mutex<ThrottleState>
    let watch: TimerQueue
    private let jitter: @Sendable () -> Double
    private let onLock: @Sendable (Lockout, Username) -> Void

    /// A throttle without failures; see ``restore()``.
    ///
    /// - Parameters:
    ///   - settings: The limits of failures, and their consequences.
    ///   - clock: The clock that measures windows, locks and delays.
    ///   - wall: The time in seconds since 1970, for the store; it may jump.
    ///   - jitter: A random number from 0 to 1, for delays; it need not be unpredictable.
    ///   - store: The store in which failures and locks survive a restart; nil if they do not.
    ///   - onLock: Called when a lock begins, with the user name as typed in the login that caused it, so that cached
    ///     credentials can be dropped. It must not block.
    public init(
        _ settings: ThrottleSettings,
        clock: any LoginClock,
        wall: @escaping @Sendable () -> Int,
        jitter: @escaping @Sendable () -> Double,
        store: (any ThrottleStore)? = nil,
        onLock: @escaping @Sendable (Lockout, Username) -> Void = { _, _ in }
    ) {
        self.settings = settings
        self.clock = clock
        self.wall = wall
        self.jitter = jitter
        self.store = store
        self.onLock = onLock
        watch = TimerQueue(clock)
        state = Mutex(ThrottleState(settings, isStored: store != nil))
    }

    /// Reserves an attempt, after a wait if too many are running.
    public func reserve(
        _ accounts: [Account],
        by username: Username,
        from peer: String?
    ) async -> any LoginReservation {
        let attempt = Attempt(accounts, from: source(peer))
        let admission: Admission
        if let now = state.withLock({ $0.admit(attempt, at: moment) }) {
            admission = now
        } else {
            admission = await wait(attempt)
        }
        return ThrottleReservation(self, attempt: attempt, username: username, admission: admission, begin: clock.now)
    }

    /// The locks as of now, in no order.
    public var lockouts: [Lockout] {
        let wall = wall()
        return state.withLock { state in
            let now = moment
            return [state.accounts, state.sources].flatMap { table in
                table.records.compactMap { record in
                    guard let end = record.lockEnd, end > now else { return nil }
                    return Lockout(record.key, failures: record.failuresAtLock, end: wall + Self.seconds(end - now))
                }
            }
        }
    }

    /// Clears failures and locks, and admits attempts that wait for them.
    ///
    /// - Parameter scope: The failures and locks to clear.
    public func clear(_ scope: LockoutReset.Scope) {
        let woken = state.withLock { $0.clear(scope, at: moment) }
        requestFlush()
        woken.forEach { $0.wake() }
    }

    /// The number of running attempts, each counted on its account and on its source, and the number of waiting ones;
    /// for tests.
    var pending: (running: Int, waiting: Int) { state.withLock { $0.pending } }

    /// The present moment, to be read under the lock, so that moments are in order.
    var moment: Int { Int(clamping: clock.now) }

    static func seconds(_ nanoseconds: Int) -> Int { (nanoseconds + 999_999_999) / 1_000_000_000 }

    private func source(_ peer: String?) -> ClientNetwork? {
        guard let peer else { return nil }
        let address = NetworkAddress(peer[...])
        if let address, settings.exempt.contains(where: { $0.contains(address) }) { return nil }
        return ClientNetwork(peer, address: address)
    }

    // MARK: Waiting

    private func wait(_ attempt: Attempt) async -> Admission {
        let number = state.withLock { $0.nextNumber() }
        let ticket = watch.add(at: clock.now &+ UInt64(settings.waitLimit.boundedNanoseconds)) { [weak self] _ in
            self?.giveUp(number, isCancelled: false)
            return nil
        }
        let admission = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock {
                    $0.admitOrWait(attempt, number: number, continuation: continuation, at: moment)
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            giveUp(number, isCancelled: true)
        }
        watch.remove(ticket)
        state.withLock { $0.forgetCancellation(number) }
        return admission
    }

    private func giveUp(_ number: UInt64, isCancelled: Bool) {
        state.withLock { $0.giveUp(number, isCancelled: isCancelled, at: moment) }?.wake()
    }

    // MARK: Settling

    /// Records the result of an attempt.
    ///
    /// - Returns: The number of failures including this attempt, the largest of several accounts; 0 if it is not a
    ///   failure.
    func settle(
        _ attempt: Attempt,
        reserved: [ThrottleKey],
        by username: Username,
        results: [(key: ThrottleKey, result: AttemptResult)]
    ) -> Int {
        let settled = state.withLock { $0.settle(attempt, reserved: reserved, results: results, at: moment) }
        for key in settled.locked {
            let isAccount = key != attempt.sourceKey
            let length = isAccount ? settings.lock : settings.sourceLock
            let failures = isAccount ? settings.failures : settings.sourceFailures
            let end = wall() + Self.seconds(length.boundedNanoseconds)
            onLock(Lockout(key, failures: failures, end: end), username)
        }
        if !settled.locked.isEmpty { requestFlush() }
        settled.woken.forEach { $0.wake() }
        return settled.failures
    }

    /// Delays an answer, unless too many are delayed already.
    func delay(failures: Int, since begin: UInt64) async {
        guard failures > 0, settings.delay > .zero else { return }
        let isDelayed = state.withLock { state in
            guard state.delayedAnswers < settings.delayedAnswers else { return false }
            state.delayedAnswers += 1
            return true
        }
        guard isDelayed else { return }
        defer { state.withLock { $0.delayedAnswers -= 1 } }
        let length = Double(Self.delay(failures: failures, settings: settings)) * (1 + min(max(jitter(), 0), 1) / 4)
        do throws(CancellationError) {
            try await clock.sleep(until: begin &+ UInt64(length))
        } catch {
            // The client no longer waits for the answer.
        }
    }

    /// The least delay of the answer to a failure, in nanoseconds.
    static func delay(failures: Int, settings: ThrottleSettings) -> Int {
        let longest = max(settings.delay, settings.longestDelay).boundedNanoseconds
        var delay = settings.delay.boundedNanoseconds
        var doubled = 1
        while doubled < failures, delay < longest {
            delay *= 2
            doubled += 1
        }
        return min(delay, longest)
    }
}

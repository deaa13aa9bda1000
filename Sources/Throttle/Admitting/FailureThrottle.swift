// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit
internal import Synchronization

/// Counts failed logins by account and by source, delays refusals more and more, and locks for a time.
///
/// - An attempt is reserved before its stack is walked and settled after it. Failures and attempts on their way are never
///   more than the limit together; further ones wait, without a thread, until one is settled.
/// - Somebody who is locked gets the walk, the answer and the delay of somebody whose password is wrong.
/// - A success clears the account's failures. It does not clear its source's: a guesser with an account of his own would
///   have guesses without end.
/// - A login that was refused because a back end is down, or nothing was presented, counts as nothing, unless a module
///   found the credentials wrong.
///
/// docs/lockout.md has the rules for administrators. Sources: pam_faillock (what a lock is), ASVS 6.1.1 and 6.3.1.
///
/// It may be used from any thread. It is made once and outlives configurations.
public final class FailureThrottle: LoginThrottle {
    /// How many failures there may be, and what follows from them.
    public let settings: ThrottleSettings
    let clock: any LoginClock
    let wall: @Sendable () -> Int
    let store: (any ThrottleStore)?
    let state: Mutex<ThrottleState>
    let watch: DeadlineWatch
    private let jitter: @Sendable () -> Double
    private let onLock: @Sendable (Lockout, Username) -> Void

    /// A throttle that knows of no failures yet; see ``restore()``.
    ///
    /// - Parameters:
    ///   - settings: How many failures there may be, and what follows from them.
    ///   - clock: Tells how long something lasts.
    ///   - wall: The time in seconds since 1970, for the store; it may jump.
    ///   - jitter: A random number from 0 to 1, for delays; it need not be hard to guess.
    ///   - store: Where failures and locks survive a restart; nil if they do not.
    ///   - onLock: Called when a lock begins, with the name as it was typed in the login that brought it, so that
    ///     whoever remembers credentials can forget them. It must not wait.
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
        watch = DeadlineWatch(clock)
        state = Mutex(ThrottleState(settings, isStored: store != nil))
    }

    /// Reserves an attempt, waiting for a while if too many are on their way.
    public func reserve(_ account: Account, for request: LoginRequest) async -> any LoginReservation {
        let attempt = Attempt(account, from: source(request.peer))
        let admission: Admission
        if let now = state.withLock({ $0.admit(attempt, moment) }) {
            admission = now
        } else {
            admission = await wait(attempt)
        }
        return Ticket(self, attempt, request.username, admission, begin: clock.now)
    }

    /// What is locked now, in no order.
    public var lockouts: [Lockout] {
        let wall = wall()
        return state.withLock { state in
            let now = moment
            return [state.accounts, state.sources].flatMap { ledger in
                ledger.records.compactMap { record in
                    guard let end = record.lockEnd, end > now else { return nil }
                    return Lockout(record.key, failures: record.failuresAtLock, end: wall + Self.seconds(end - now))
                }
            }
        }
    }

    /// Forgets failures and locks; what waits may go on.
    ///
    /// - Parameter what: What to forget.
    public func clear(_ what: Clearance.What) {
        let woken = state.withLock { $0.clear(what, moment) }
        hurry()
        woken.forEach { $0.wake() }
    }

    /// How many attempts are on their way, each counted on its account and on its source, and how many wait; for tests.
    var pending: (flights: Int, waiting: Int) { state.withLock { $0.pending } }

    /// The moment; read under the lock, so that moments come in order.
    var moment: Int { Int(clamping: clock.now) }

    static func seconds(_ nanoseconds: Int) -> Int { (nanoseconds + 999_999_999) / 1_000_000_000 }

    private func source(_ peer: String?) -> Source? {
        guard let peer else { return nil }
        let address = NetworkAddress(peer[...])
        if let address, settings.exempt.contains(where: { $0.contains(address) }) { return nil }
        return Source(peer, address)
    }

    // MARK: Waiting

    private func wait(_ attempt: Attempt) async -> Admission {
        let number = state.withLock { $0.nextNumber() }
        let ticket = watch.add(at: clock.now &+ UInt64(settings.patience.nanoseconds)) { [weak self] _ in
            self?.giveUp(number, isCancelled: false)
            return nil
        }
        let admission = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { $0.admitOrWait(attempt, number, continuation, moment) }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            giveUp(number, isCancelled: true)
        }
        watch.forget(ticket)
        state.withLock { $0.forgetCancellation(number) }
        return admission
    }

    private func giveUp(_ number: UInt64, isCancelled: Bool) {
        state.withLock { $0.giveUp(number, isCancelled: isCancelled, moment) }?.wake()
    }

    // MARK: Settling

    /// Takes note of what came of an attempt.
    ///
    /// - Returns: Which failure in a row it was; 0 if it was none.
    func settle(_ attempt: Attempt, _ username: Username, _ result: AttemptResult) -> Int {
        let settled = state.withLock { $0.settle(attempt, result, moment) }
        for key in settled.locked {
            let isAccount = key == attempt.account
            let length = isAccount ? settings.lock : settings.sourceLock
            let failures = isAccount ? settings.failures : settings.sourceFailures
            let end = wall() + Self.seconds(length.nanoseconds)
            onLock(Lockout(key, failures: failures, end: end), username)
        }
        if !settled.locked.isEmpty { hurry() }
        settled.woken.forEach { $0.wake() }
        return settled.failures
    }

    /// Holds an answer back, unless too many are held back already.
    func delay(failures: Int, since begin: UInt64) async {
        guard failures > 0, settings.delay > .zero else { return }
        let isHeldBack = state.withLock { state in
            guard state.delayedAnswers < settings.delayedAnswers else { return false }
            state.delayedAnswers += 1
            return true
        }
        guard isHeldBack else { return }
        defer { state.withLock { $0.delayedAnswers -= 1 } }
        let length = Double(Self.delay(failures: failures, settings)) * (1 + min(max(jitter(), 0), 1) / 4)
        do throws(CancellationError) {
            try await clock.sleep(until: begin &+ UInt64(length))
        } catch {
            // Nobody waits for the answer any more.
        }
    }

    /// How long the answer to a failure is held back at least, in nanoseconds.
    static func delay(failures: Int, _ settings: ThrottleSettings) -> Int {
        let longest = max(settings.delay, settings.longestDelay).nanoseconds
        var delay = settings.delay.nanoseconds
        var doubled = 1
        while doubled < failures, delay < longest {
            delay *= 2
            doubled += 1
        }
        return min(delay, longest)
    }
}

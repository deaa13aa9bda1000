// SPDX-License-Identifier: Apache-2.0

public import RealmKit
internal import Synchronization

/// Counts failed logins by account and by source, delays refusals, and locks accounts and sources for a time.
///
/// - An attempt is reserved before the login and settled after it. For each account and source, the sum of failures and
///   running attempts never exceeds the limit. Further attempts wait until a running attempt is settled. They wait
///   without blocking a thread.
/// - A login that waits for its user is a failure of its accounts, whatever the modules have returned so far, until it
///   is settled. If it is then accepted, or is no guess, the failure is taken back, and the lock that it has caused.
/// - A login at a locked account runs, and its answer and delay are those of a wrong password.
/// - A success clears the failures of the account. It does not clear the failures of the source. Otherwise an attacker
///   who has an account could guess without limit.
/// - A login that tries several realms in order is one attempt. If a realm accepts, the realms before it have rejected
///   the password. In those realms, the first rejected password does not count as a failure, but every different
///   password counts. The success does not clear the failures in those realms.
/// - A login counts as a failure if a secret was presented and not accepted. It does not matter which module rejected
///   it. The login does not count if no user can log in because a module is unavailable.
///
/// docs/lockout.md has the rules for administrators. Sources: pam_faillock (the rules of a lock), ASVS 6.1.1 and 6.3.1.
///
/// A throttle may be used from any thread. A server has one throttle, which it keeps when the configuration is reloaded.
public final class FailureThrottle: LoginThrottle {
    /// The limits of failures, and their consequences.
    public let settings: ThrottleSettings
    let clock: any LoginClock
    let wall: @Sendable () -> Int
    let store: (any ThrottleStore)?
    let state: Mutex<ThrottleState>
    let watch: TimerQueue
    /// The requests to write to the store at once, of which the last is kept.
    let flushRequests = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let jitter: @Sendable () -> Double
    private let onLock: @Sendable (Lockout, Username) -> Void

    /// Creates a throttle without failures; ``restore()`` reads the stored ones.
    ///
    /// - Parameters:
    ///   - settings: The limits of failures, and their consequences.
    ///   - clock: The clock that measures windows, locks and delays.
    ///   - wall: Returns the time in seconds since 1970, for the store. This time may jump.
    ///   - jitter: Returns a random number from 0 to 1, for delays. The numbers may be predictable.
    ///   - store: The store that keeps failures and locks across restarts; nil for no store.
    ///   - onLock: Called when a lock begins, for example to remove cached credentials. It receives the lock, and the user
    ///     name as it was typed in the login that caused the lock. The closure must not block.
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

    /// Reserves an attempt; if too many attempts are running, waits until one of them is settled.
    public func reserve(
        _ accounts: [Account],
        by username: Username,
        from peer: String?
    ) async -> any LoginReservation {
        let login = Reservation(accounts, from: source(peer))
        let reservation: Reservation
        if let now = state.withLock({ $0.admit(login, at: moment) }) {
            reservation = now
        } else {
            reservation = await wait(login)
        }
        return ThrottleReservation(reservation, in: self, by: username, begin: clock.now)
    }

    /// The present locks, in no particular order.
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

    /// The numbers of present locks and waiting attempts.
    package var statistics: ThrottleStatistics { state.withLock { $0.statistics(at: moment) } }

    /// Clears failures and locks, and ends the waits of attempts at the cleared accounts and sources.
    public func clear(_ scope: LockoutReset.Scope) {
        let endedWaits = state.withLock { $0.clear(scope, at: moment) }
        requestFlush()
        endedWaits.forEach { $0.resume() }
    }

    /// The present moment, to be read while the mutex is held, so that moments are in the order of the changes of the state.
    var moment: Int { Int(clamping: clock.now) }

    static func seconds(_ nanoseconds: Int) -> Int { (nanoseconds + 999_999_999) / 1_000_000_000 }

    private func source(_ peer: String?) -> ClientNetwork? {
        guard let peer else { return nil }
        let address = NetworkAddress(peer[...])
        if let address, settings.exempt.contains(where: { $0.contains(address) }) { return nil }
        return ClientNetwork(peer, address: address)
    }

    // MARK: Waiting

    private func wait(_ login: Reservation) async -> Reservation {
        let number = state.withLock { $0.nextNumber() }
        let ticket = watch.add(at: clock.now &+ UInt64(settings.waitLimit.boundedNanoseconds)) { [weak self] _ in
            self?.endWait(number)
            return nil
        }
        defer { watch.remove(ticket) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock {
                    $0.admitOrWait(login, number: number, continuation: continuation, at: moment)
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            endWait(number)
        }
    }

    private func endWait(_ number: UInt64) { state.withLock { $0.endWait(number, at: moment) }?.resume() }

    // MARK: Settling

    /// Records the result of a login, and returns the largest number of failures of one of its accounts, including this
    /// login; 0 if it is not a failure.
    func settle(
        _ reservation: Reservation,
        by username: Username,
        results: [(key: ThrottleKey, result: AttemptResult)]
    ) -> Int {
        guard !reservation.reserved.isEmpty else { return 0 }
        let settled = state.withLock { $0.settle(reservation, results: results, at: moment) }
        apply(settled, by: username)
        return settled.failures
    }

    /// Counts a login that waits for its user; returns the effects for ``apply(_:by:)``.
    func countOpen(_ reservation: inout Reservation) -> Settlement {
        state.withLock { $0.countOpen(&reservation, at: moment) }
    }

    /// Reports the locks of a login to the throttle's owner, so no mutex may be held, and resumes the logins whose wait
    /// it has ended.
    func apply(_ effects: Settlement, by username: Username) {
        for key in effects.locked {
            let (failures, length) =
                switch key {
                case .account: (settings.failures, settings.lock)
                case .source: (settings.sourceFailures, settings.sourceLock)
                }
            let end = wall() + Self.seconds(length.boundedNanoseconds)
            onLock(Lockout(key, failures: failures, end: end), username)
        }
        if !effects.locked.isEmpty { requestFlush() }
        effects.endedWaits.forEach { $0.resume() }
    }

    /// Delays an answer, unless too many answers are delayed already.
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
        // If the task is cancelled, the client no longer waits for the answer.
        try? await clock.sleep(until: begin &+ UInt64(length))
    }

    /// The delay of the answer to a failure in nanoseconds, without the random part.
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

/// Wrong tokens of programs.
///
/// A token belongs to no account, so wrong tokens are counted as the failures of an account without a realm, whose name is
/// the network. They are not added to the failed logins of the network: otherwise a program with an old token would prevent
/// all users of its network from logging in.
extension FailureThrottle {
    /// Counts a wrong token and delays the response as after a failed login.
    ///
    /// A right token must be accepted even if the limit of wrong tokens is reached: it cannot be guessed, and several
    /// programs may share an address.
    public func refuseToken(from network: ClientNetwork) async {
        let begin = clock.now
        // A realm's name is never empty, so this account is not the account of a user.
        let account = Account(realm: "", key: network.description)
        var failures = settings.failures
        // The peer of a connection is always an address. If it were not, the response would get the longest delay.
        if let name = try? Username(network.description),
            let login = state.withLock({ $0.admit(Reservation([account], from: nil), at: moment) }),
            !login.reserved.isEmpty
        {
            failures = settle(login, by: name, results: [(.account(account), .failure)])
        }
        await delay(failures: failures, since: begin)
    }

    /// Returns the network whose wrong tokens have reached the limit; nil if the lock is for a user or for failed logins.
    public static func networkOfTokens(_ key: ThrottleKey) -> String? {
        guard case .account(let account) = key, account.realm.isEmpty else { return nil }
        return account.key
    }
}

/// The numbers of locks and waiting attempts of a throttle at one moment.
package struct ThrottleStatistics: Sendable, Hashable {
    package let lockedAccounts: Int
    package let lockedNetworks: Int
    /// The attempts that wait until another attempt has ended.
    package let waitingAttempts: Int
}

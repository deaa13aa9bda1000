// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import Bytes
package import Logging
internal import Passwords
package import RealmKit
internal import Synchronization
package import Throttle

/// Checks every second whether the users of realms have changed, and revokes their credentials and sessions.
package final class RealmRefresher: Sendable {
    /// The nanoseconds between two checks; a removed user keeps access for at most this time and that of one check.
    static let interval: UInt64 = 1_000_000_000
    /// The time that a sign-in waits for a check.
    package static let timeLimit = Duration.seconds(2)

    /// The checks of one realm: one runs at a time, and all callers that need a later one share the next.
    private struct Checks {
        var running: Task<Void, Never>?
        var next: Task<Void, Never>?
    }

    private struct State {
        var realms: [(name: String, realm: any RefreshingRealm)] = []
        var accessController: AccessController?
        var pool: HashingPool?
        var checks: [String: Checks] = [:]
    }

    private let clock: any LoginClock
    private let report: HashingReport
    private let state = Mutex(State())

    package init(clock: any LoginClock, logger: Logger) {
        self.clock = clock
        report = HashingReport(logger)
    }

    /// Runs the first check of new realms; later checks compare with its result.
    ///
    /// It must run before the realms are put in force: the first check of a realm may report all users as changed.
    ///
    /// - Parameter realms: The realms.
    package static func prime(_ realms: [BoundRealm]) async {
        for bound in realms { _ = await (bound.realm as? any RefreshingRealm)?.refresh() }
    }

    /// Puts realms in force.
    ///
    /// - Parameters:
    ///   - realms: The realms.
    ///   - accessController: The controller with the credential cache and the sessions of their users.
    ///   - pool: The pool that computes password hashes.
    func watch(_ realms: [BoundRealm], accessController: AccessController, pool: HashingPool?) {
        let refreshing = realms.compactMap { bound in
            (bound.realm as? any RefreshingRealm).map { (name: bound.name, realm: $0) }
        }
        state.withLock { state in
            state.realms = refreshing
            state.accessController = accessController
            state.pool = pool
        }
    }

    /// Evicts the cached credentials of a locked account or source.
    package func evict(_ key: ThrottleKey) {
        let accessController = state.withLock { $0.accessController }
        switch key {
        case .account(let account): accessController?.evictCredentials(of: account)
        case .source(let source): accessController?.evictCredentials(from: source)
        }
    }

    /// Checks the realms every second until the task is cancelled.
    package func run() async {
        while true {
            do throws(CancellationError) {
                try await clock.sleep(until: clock.now &+ Self.interval)
            } catch {
                return
            }
            await refresh()
        }
    }

    /// Checks the realms once.
    package func refresh() async {
        let (realms, accessController, pool) = state.withLock { ($0.realms, $0.accessController, $0.pool) }
        if let pool { report.logRejections(of: pool) }
        // A realm that does not answer must not delay the checks of the others.
        await withTaskGroup(of: Void.self) { group in
            for (name, realm) in realms {
                let check = nextCheck(of: realm, name, accessController)
                group.addTask { await check.value }
            }
        }
    }

    /// Checks a realm now, before a session is created there.
    ///
    /// The login may have been accepted by a password that was changed since. Neither a reload nor a restart would
    /// notice that.
    ///
    /// - Parameter name: The realm's name.
    /// - Returns: True when the credentials and sessions of users that had changed before the call are revoked, or the
    ///   realm has no check; false if that took more than ``timeLimit``.
    package func refresh(_ name: String) async -> Bool {
        let (realm, accessController) = state.withLock { state in
            (state.realms.first { $0.name.hasBytes(of: name) }?.realm, state.accessController)
        }
        guard let realm else { return true }
        return await TimeLimitedWait.value(
            of: nextCheck(of: realm, name, accessController),
            within: Self.timeLimit,
            clock: clock
        ) != nil
    }

    /// Returns a check that begins after this call.
    private func nextCheck(
        of realm: any RefreshingRealm,
        _ name: String,
        _ accessController: AccessController?
    ) -> Task<Void, Never> {
        state.withLock { state in
            if let next = state.checks[name]?.next { return next }
            let before = state.checks[name]?.running
            let task = Task { [self] in
                await before?.value
                self.state.withLock { state in
                    let next = state.checks[name]?.next
                    state.checks[name] = Checks(running: next)
                }
                let changed = await realm.refresh()
                accessController?.revoke(changed, of: name)
                if changed == .all { await accessController?.revalidateSessions(of: name) }
            }
            state.checks[name, default: Checks()].next = task
            return task
        }
    }
}

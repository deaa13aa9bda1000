// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import RealmKit
internal import Synchronization
package import Throttle

/// Checks every second whether the users of realms have changed, and revokes their credentials and sessions.
package final class RealmRefresher: Sendable {
    /// The nanoseconds between two checks: a removed user keeps access for at most this time plus the duration of a
    /// check.
    static let interval: UInt64 = 1_000_000_000
    /// The maximum time that a sign-in waits for a check.
    static let timeLimit = Duration.seconds(2)

    /// The number of further checks of a realm after a reload; `FileRealm` reports a change after five seconds at the
    /// latest.
    private static let checksOfReplacedRealms = 10

    /// The checks of a realm: one runs at a time, and all callers that arrive during it share the next one.
    private struct Checks {
        var running: Task<Void, Never>?
        var next: Task<Void, Never>?
    }

    private struct State {
        var realms: [(bound: BoundRealm, realm: any RefreshingRealm)] = []
        /// The realms before a reload that has not changed them, each with the number of checks that remain.
        ///
        /// A realm may report a change some seconds later, which the realm of the new configuration already knows and
        /// never reports. Without these checks, a login that runs during a reload could use the old password.
        var replaced: [(name: String, realm: any RefreshingRealm, checks: Int)] = []
        /// The realms that use other realms.
        var users: [BoundRealm] = []
        var accessController: AccessController?
        var checks: [String: Checks] = [:]
    }

    private let clock: any LoginClock
    private let state = Mutex(State())

    package init(clock: any LoginClock) { self.clock = clock }

    /// Runs the first check of new realms, with whose result later checks compare the users.
    ///
    /// It must be called before the realms are in use, because it may report all users as changed.
    package static func runFirstChecks(_ realms: [BoundRealm]) async {
        for bound in realms { _ = await (bound.realm as? any RefreshingRealm)?.refresh() }
    }

    /// Sets the realms to check and the controller whose credentials and sessions are revoked, at the start and after a
    /// reload.
    package func use(_ realms: [BoundRealm], accessController: AccessController) {
        let refreshing = realms.compactMap { bound in
            (bound.realm as? any RefreshingRealm).map { (bound: bound, realm: $0) }
        }
        state.withLock { state in
            state.replaced += state.realms.filter { before in
                realms.contains { $0.name.hasBytes(of: before.bound.name) && $0.hasSameConfiguration(as: before.bound) }
            }.map { (name: $0.bound.name, realm: $0.realm, checks: Self.checksOfReplacedRealms) }
            state.realms = refreshing
            state.users = realms.filter { !$0.nested.isEmpty }
            state.accessController = accessController
        }
    }

    /// Evicts the cached credentials of a locked account or client network.
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
            do { try await clock.sleep(until: clock.now &+ Self.interval) } catch { return }
            await refresh()
        }
    }

    package func refresh() async {
        let (realms, replaced) = state.withLock { state in
            state.replaced.removeAll { $0.checks == 0 }
            for index in state.replaced.indices { state.replaced[index].checks -= 1 }
            return (state.realms, state.replaced)
        }
        // A realm that does not respond must not delay the checks of other realms.
        await withTaskGroup(of: Void.self) { group in
            for (bound, realm) in realms {
                let check = nextCheck(of: realm, bound.name)
                group.addTask { await check.value }
            }
            for (name, realm, _) in replaced {
                group.addTask { [self] in await apply(await realm.refresh(), of: name) }
            }
        }
    }

    /// Checks a realm and the realms that it uses now, before a session is created there; false if the check took more
    /// than ``timeLimit``.
    ///
    /// The login may have used a password that was changed during the login. The session would begin after that change,
    /// so a later check, a reload or a restart would not end the session.
    package func refresh(_ name: String) async -> Bool {
        let realms = state.withLock { state in
            let names = [name] + (state.users.first { $0.name.hasBytes(of: name) }?.allNested.map(\.name) ?? [])
            return state.realms.filter { realm in names.contains { $0.hasBytes(of: realm.bound.name) } }
        }
        let checks = realms.map { nextCheck(of: $0.realm, $0.bound.name) }
        guard let last = checks.last else { return true }
        let all = checks.count == 1 ? last : Task { for check in checks { await check.value } }
        return await TimeLimitedWait.value(of: all, within: Self.timeLimit, clock: clock) != nil
    }

    /// Returns a check that begins after this call.
    private func nextCheck(of realm: any RefreshingRealm, _ name: String) -> Task<Void, Never> {
        state.withLock { state in
            if let next = state.checks[name]?.next { return next }
            let before = state.checks[name]?.running
            let task = Task { [self] in
                await before?.value
                self.state.withLock { state in
                    let next = state.checks[name]?.next
                    state.checks[name] = Checks(running: next)
                }
                await apply(await realm.refresh(), of: name)
            }
            state.checks[name, default: Checks()].next = task
            return task
        }
    }

    /// Applies changes of a realm's users to this realm and the realms that use it.
    private func apply(_ changed: ChangedUsers, of name: String) async {
        let (found, users) = state.withLock { ($0.accessController, $0.users) }
        guard changed != .none, let accessController = found else { return }
        accessController.revoke(changed, of: name)
        if changed == .all { await accessController.revalidateSessions(of: name) }
        for realm in users where realm.allNested.contains(where: { $0.name.hasBytes(of: name) }) {
            switch changed {
            case .some(let names):
                accessController.revoke(of: realm.name) { realm.isConcerned($0, by: names, of: name) }
            case .all:
                accessController.revoke(.all, of: realm.name)
                await accessController.revalidateSessions(of: realm.name)
            }
        }
    }
}

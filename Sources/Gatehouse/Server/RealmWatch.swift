// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Logging
internal import Passwords
internal import RealmKit
internal import Synchronization
internal import Throttle

/// Asks realms every second whether users have changed, and has the gate forget those who have.
final class RealmWatch: Sendable {
    /// How long a user who is gone may go on by what was accepted before: a second, and the time of the look.
    static let interval: UInt64 = 1_000_000_000

    private struct State {
        var realms: [(name: String, realm: any RefreshingRealm)] = []
        var gate: Gate?
        var slots: HashingSlots?
    }

    private let clock: any LoginClock
    private let report: HashingReport
    private let state = Mutex(State())

    init(clock: any LoginClock, logger: Logger) {
        self.clock = clock
        report = HashingReport(logger)
    }

    /// Has realms that are new look for the first time: what there is then is what later looks compare with.
    ///
    /// To be done before they are put in force: a realm that looks for the first time may call everybody changed.
    ///
    /// - Parameter realms: The realms.
    static func prime(_ realms: [BoundRealm]) async {
        for bound in realms { _ = await (bound.realm as? any RefreshingRealm)?.refresh() }
    }

    /// Takes these for what is in force.
    ///
    /// - Parameters:
    ///   - realms: The realms.
    ///   - gate: What remembers whom they have accepted.
    ///   - slots: Where passwords are checked.
    func look(after realms: [BoundRealm], _ gate: Gate, _ slots: HashingSlots?) {
        let refreshing = realms.compactMap { bound in
            (bound.realm as? any RefreshingRealm).map { (name: bound.name, realm: $0) }
        }
        state.withLock { $0 = State(realms: refreshing, gate: gate, slots: slots) }
    }

    /// Has the gate forget what a lock is about.
    func forget(_ key: ThrottleKey) {
        let gate = state.withLock { $0.gate }
        switch key {
        case .account(let account): gate?.forget(account)
        case .source(let source): gate?.forget(source)
        }
    }

    /// Looks until the task is cancelled.
    func run() async {
        while true {
            do throws(CancellationError) {
                try await clock.sleep(until: clock.now &+ Self.interval)
            } catch {
                return
            }
            await look()
        }
    }

    /// Looks once.
    func look() async {
        let (realms, gate, slots) = state.withLock { ($0.realms, $0.gate, $0.slots) }
        if let slots { report.look(at: slots) }
        // One that is stuck must not keep the others from being looked at.
        await withTaskGroup(of: Void.self) { group in
            for (name, realm) in realms {
                group.addTask {
                    let changed = await realm.refresh()
                    gate?.forget(changed, of: name)
                    if changed == .all { await gate?.recheck(name) }
                }
            }
        }
    }
}

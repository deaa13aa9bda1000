// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Logging
internal import Passwords
internal import RealmKit
internal import Synchronization

/// Asks realms every second whether users have changed, and has the gate forget those who have.
final class RealmWatch: Sendable {
    /// How long a user who is gone may go on by what was accepted before: a second, and the time of the look.
    static let interval: UInt64 = 1_000_000_000

    private struct State {
        var all: [BoundRealm] = []
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
        state.withLock { $0 = State(all: realms, realms: refreshing, gate: gate, slots: slots) }
    }

    /// Has the gate forget whoever has an account.
    func forget(_ account: Account) {
        let (realms, gate) = state.withLock { ($0.all, $0.gate) }
        guard let realm = realms.first(where: { $0.name == account.realm }) else { return }
        gate?.forget(of: account.realm) { realm.account(of: $0) == account }
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
        for (name, realm) in realms {
            let changed = await realm.refresh()
            gate?.forget(changed, of: name)
        }
    }
}

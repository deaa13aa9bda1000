// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit
internal import Synchronization

/// Asks realms every second whether users have changed, and has the gate forget those who have.
final class RealmWatch: Sendable {
    /// How long a user who is gone may go on by what was accepted before: a second, and the time of the look.
    static let interval: UInt64 = 1_000_000_000

    private struct State {
        var realms: [(name: String, realm: any RefreshingRealm)] = []
        var gate: Gate?
    }

    private let clock: any LoginClock
    private let state = Mutex(State())

    init(clock: any LoginClock) {
        self.clock = clock
    }

    /// Takes these for what is in force.
    ///
    /// - Parameters:
    ///   - realms: The realms.
    ///   - gate: What remembers whom they have accepted.
    func look(after realms: [BoundRealm], _ gate: Gate) {
        let refreshing = realms.compactMap { bound in
            (bound.realm as? any RefreshingRealm).map { (name: bound.name, realm: $0) }
        }
        state.withLock { $0 = State(realms: refreshing, gate: gate) }
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
        let (realms, gate) = state.withLock { ($0.realms, $0.gate) }
        for (name, realm) in realms {
            let changed = await realm.refresh()
            gate?.forget(changed, of: name)
        }
    }
}

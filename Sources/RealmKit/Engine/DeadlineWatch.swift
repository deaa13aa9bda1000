// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// Calls back when a moment has come, for any number of moments with one sleeping task.
///
/// A login that ends in time costs a lock and no task of its own. The task sleeps until the earliest moment and ends when
/// none is left; an earlier moment than the one it sleeps for gets a task of its own.
package final class DeadlineWatch: Sendable {
    /// What to do when the moment has come: it returns the next moment to be called back at, or nil if that was all.
    package typealias Action = @Sendable (_ now: UInt64) -> UInt64?

    private struct State {
        var next: UInt64 = 0
        var waiting: [UInt64: (moment: UInt64, action: Action)] = [:]
        var sleepers: [UInt64] = []

        /// Whether a new sleeper is needed for a moment; it is then taken to be there.
        mutating func mustSleep(until moment: UInt64) -> Bool {
            if let earliest = sleepers.min(), earliest <= moment { return false }
            sleepers.append(moment)
            return true
        }
    }

    private let clock: any LoginClock
    private let state = Mutex(State())

    package init(_ clock: any LoginClock) {
        self.clock = clock
    }

    /// Asks to be called back.
    ///
    /// - Returns: What to ``forget(_:)`` when it is no longer needed.
    package func add(at moment: UInt64, _ action: @escaping Action) -> UInt64 {
        let (ticket, mustSleep) = state.withLock { state in
            state.next += 1
            state.waiting[state.next] = (moment, action)
            return (state.next, state.mustSleep(until: moment))
        }
        if mustSleep { sleep(until: moment) }
        return ticket
    }

    package func forget(_ ticket: UInt64) {
        state.withLock { _ = $0.waiting.removeValue(forKey: ticket) }
    }

    /// Owned by the watch: it ends by itself when it has woken, at the latest a deadline after the last login.
    private func sleep(until moment: UInt64) {
        Task { [weak self, clock] in
            do throws(CancellationError) {
                try await clock.sleep(until: moment)
            } catch {
                // Nobody cancels it; were it so, waking too early is harmless.
            }
            self?.wake(moment)
        }
    }

    private func wake(_ moment: UInt64) {
        let now = clock.now
        let due = state.withLock { state in
            if let index = state.sleepers.firstIndex(of: moment) { state.sleepers.remove(at: index) }
            return state.waiting.filter { $0.value.moment <= now }
        }
        for (ticket, waiting) in due {
            let again = waiting.action(now)
            state.withLock { state in
                guard state.waiting[ticket] != nil else { return }
                if let again { state.waiting[ticket]?.moment = again } else { state.waiting[ticket] = nil }
            }
        }
        let earliest = state.withLock { state -> UInt64? in
            guard let earliest = state.waiting.values.map(\.moment).min() else { return nil }
            return state.mustSleep(until: earliest) ? earliest : nil
        }
        if let earliest { sleep(until: earliest) }
    }
}

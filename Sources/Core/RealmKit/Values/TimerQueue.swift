// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Calls handlers at given times.
///
/// One sleeping task serves all handlers, so a login that ends before its deadline needs no task of its own. A new
/// handler with an earlier time starts another task.
package final class TimerQueue: Sendable {
    /// A handler that receives the current time and returns the time of its next call, or nil if it is finished.
    package typealias Handler = @Sendable (_ now: UInt64) -> UInt64?

    private struct State {
        var next: UInt64 = 0
        var waiting: [UInt64: (moment: UInt64, action: Handler)] = [:]
        var sleepers: [UInt64] = []

        /// Returns whether a task must be started that sleeps until a time, and records its time.
        mutating func mustSleep(until moment: UInt64) -> Bool {
            if let earliest = sleepers.min(), earliest <= moment { return false }
            sleepers.append(moment)
            return true
        }
    }

    private let clock: any LoginClock
    private let state = Mutex(State())

    package init(_ clock: any LoginClock) { self.clock = clock }

    /// Adds a handler, and returns a ticket for ``remove(_:)``.
    package func add(at moment: UInt64, call action: @escaping Handler) -> UInt64 {
        let (ticket, mustSleep) = state.withLock { state in
            state.next += 1
            state.waiting[state.next] = (moment, action)
            return (state.next, state.mustSleep(until: moment))
        }
        if mustSleep { sleep(until: moment) }
        return ticket
    }

    package func remove(_ ticket: UInt64) { state.withLock { _ = $0.waiting.removeValue(forKey: ticket) } }

    /// Starts a task that sleeps until a time and then calls the due handlers.
    private func sleep(until moment: UInt64) {
        Task { [weak self, clock] in
            // The task is never cancelled. A cancellation would only wake it too early, which is harmless.
            try? await clock.sleep(until: moment)
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

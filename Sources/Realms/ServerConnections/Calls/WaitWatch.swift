// SPDX-License-Identifier: Apache-2.0

internal import Workers

/// Interrupts waits whose time is up, for libraries without time limits of their own, on one thread for the whole process.
final class WaitWatch: Sendable {
    static let shared = WaitWatch()

    /// Ends a wait; it must neither block nor call this object.
    typealias Interrupt = @Sendable () -> Void

    private struct State {
        var waits: [UInt64: (interrupt: Interrupt, time: UInt64)] = [:]
        var lastNumber: UInt64 = 0
        var isRunning = false
        /// The time at which the thread wakes next.
        var wakeTime = UInt64.max

        mutating func interrupt(at now: UInt64) {
            for (number, wait) in waits where wait.time <= now {
                // The owner removes the wait before it closes the socket, so the descriptor is still that of the socket.
                wait.interrupt()
                waits[number] = nil
            }
            wakeTime = waits.values.lazy.map(\.time).min() ?? .max
        }
    }

    private let monitor = Monitor(State())

    /// Watches a wait until a time of `MonotonicTime`; returns the number for ``remove(_:)``, nil without more threads.
    func add(_ interrupt: @escaping Interrupt, until time: UInt64) -> UInt64? {
        let (number, mustStart, mustWake) = monitor.withLock { state in
            state.lastNumber += 1
            state.waits[state.lastNumber] = (interrupt, time)
            defer { state.isRunning = true }
            return (state.lastNumber, !state.isRunning, time < state.wakeTime)
        }
        if mustStart, !WorkerThread.start(niceness: 0, work: run) {
            monitor.withLock { state in
                state.isRunning = false
                state.waits[number] = nil
            }
            return nil
        }
        if mustWake { monitor.wakeOne() }
        return number
    }

    /// Ends the watch of a wait, whose socket can be closed after that; returns true if it was interrupted.
    func remove(_ number: UInt64) -> Bool { monitor.withLock { $0.waits.removeValue(forKey: number) == nil } }

    private func run() {
        while true {
            let time = monitor.withLock { state in
                state.interrupt(at: MonotonicTime.now)
                return state.wakeTime
            }
            // An earlier socket may have been added; then the wait ends at once.
            _ = monitor.wait(until: min(time, MonotonicTime.now &+ 60_000_000_000)) { state in
                (state.waits.values.lazy.map(\.time).min() ?? .max) < time ? true : nil
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Workers

/// Interrupts waits whose time is up, for libraries without time limits of their own, on one thread for the whole process.
final class WaitWatch: Sendable {
    static let shared = WaitWatch()

    /// An action that interrupts a wait.
    enum Interruption: Sendable {
        /// The socket is shut down; it stays open until the wait is removed.
        case shutdown(Int32)
        /// The function is called; it must neither block nor call this object.
        case call(@Sendable () -> Void)

        func perform() {
            switch self {
            case .shutdown(let descriptor): Glibc.shutdown(descriptor, Int32(SHUT_RDWR))
            case .call(let function): function()
            }
        }
    }

    private struct State {
        var waits: [UInt64: (interruption: Interruption, time: UInt64)] = [:]
        var lastNumber: UInt64 = 0
        var isRunning = false
        /// The time at which the thread wakes next.
        var wakeTime = UInt64.max

        mutating func shutDown(at now: UInt64) {
            for (number, wait) in waits where wait.time <= now {
                // The owner removes the wait before it closes the socket, so the descriptor is still that of the socket.
                wait.interruption.perform()
                waits[number] = nil
            }
            wakeTime = waits.values.lazy.map(\.time).min() ?? .max
        }
    }

    private let monitor = Monitor(State())

    /// Watches a wait until a time of `MonotonicTime`; returns the number for ``remove(_:)``, nil without more threads.
    func add(_ interruption: Interruption, until time: UInt64) -> UInt64? {
        let (number, mustStart, mustWake) = monitor.withLock { state in
            state.lastNumber += 1
            state.waits[state.lastNumber] = (interruption, time)
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
                state.shutDown(at: MonotonicTime.now)
                return state.wakeTime
            }
            // An earlier socket may have been added; then the wait ends at once.
            _ = monitor.wait(until: min(time, MonotonicTime.now &+ 60_000_000_000)) { state in
                (state.waits.values.lazy.map(\.time).min() ?? .max) < time ? true : nil
            }
        }
    }
}

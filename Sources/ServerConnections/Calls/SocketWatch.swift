// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import WorkerThreads

/// Shuts down sockets whose time is up, which ends the wait of a library that has no time limits of its own.
///
/// One thread serves all sockets of the process. It sleeps until the earliest time.
final class SocketWatch: Sendable {
    /// The watch of this process.
    static let shared = SocketWatch()

    private struct State {
        var sockets: [UInt64: (descriptor: Int32, time: UInt64)] = [:]
        var lastNumber: UInt64 = 0
        var isRunning = false
        /// The time at which the thread wakes next.
        var wakeTime = UInt64.max

        /// Shuts down the sockets whose time is up.
        mutating func shutDown(at now: UInt64) {
            for (number, socket) in sockets where socket.time <= now {
                // The owner removes the socket before it closes it, so the descriptor is still that of the socket.
                shutdown(socket.descriptor, Int32(SHUT_RDWR))
                sockets[number] = nil
            }
            wakeTime = sockets.values.lazy.map(\.time).min() ?? .max
        }
    }

    private let monitor = Monitor(State())

    /// Watches a socket until it is removed.
    ///
    /// - Parameters:
    ///   - descriptor: An open socket.
    ///   - time: The time at which it is shut down, of `MonotonicTime`.
    /// - Returns: The number for ``remove(_:)``; nil if the system has no more threads.
    func add(_ descriptor: Int32, until time: UInt64) -> UInt64? {
        let (number, mustStart, mustWake) = monitor.withLock { state in
            state.lastNumber += 1
            state.sockets[state.lastNumber] = (descriptor, time)
            defer { state.isRunning = true }
            return (state.lastNumber, !state.isRunning, time < state.wakeTime)
        }
        if mustStart, !WorkerThread.start(niceness: 0, work: run) {
            monitor.withLock { state in
                state.isRunning = false
                state.sockets[number] = nil
            }
            return nil
        }
        if mustWake { monitor.wakeOne() }
        return number
    }

    /// Ends the watch of a socket; it can be closed after that.
    ///
    /// - Returns: True if the socket was shut down.
    func remove(_ number: UInt64) -> Bool {
        monitor.withLock { $0.sockets.removeValue(forKey: number) == nil }
    }

    private func run() {
        while true {
            let time = monitor.withLock { state in
                state.shutDown(at: MonotonicTime.now)
                return state.wakeTime
            }
            // An earlier socket may have been added; then the wait ends at once.
            _ = monitor.wait(until: min(time, MonotonicTime.now &+ 60_000_000_000)) { state in
                (state.sockets.values.lazy.map(\.time).min() ?? .max) < time ? true : nil
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Reports at intervals that the server is alive, as long as all of its event loops run.
///
/// If an event loop is blocked, or the threads that run tasks are, there is no report until it runs again. A service
/// manager can then end the process.
struct EventLoopWatchdog: Sendable {
    private let loops: [any EventLoop]
    private let interval: Duration
    private let report: @Sendable () -> Void

    /// Creates a watchdog that does not run yet.
    ///
    /// - Parameters:
    ///   - loops: The event loops.
    ///   - interval: The time between two reports.
    ///   - report: Called at each interval, after each event loop has run a task.
    init(loops: [any EventLoop], interval: Duration, report: @escaping @Sendable () -> Void) {
        self.loops = loops
        self.interval = interval
        self.report = report
    }

    /// Reports until the task is cancelled, or an event loop has been shut down.
    func run() async {
        do {
            while true {
                for loop in loops { try await loop.submit {}.get() }
                report()
                try await Task.sleep(for: interval)
            }
        } catch {
            // The server has ended.
        }
    }
}

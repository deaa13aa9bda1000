// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HTTPLimits
internal import NIOCore

/// The maximum number of open file descriptors of the process: each connection needs one.
enum DescriptorLimit {
    /// Raises the soft limit of the process if it is too low, and allows fewer connections if that is not enough.
    ///
    /// Some descriptors stay reserved, so that the process can still open files when it has many connections.
    static func limits(_ limits: HTTPLimits, threads: Int, listeners: Int) -> HTTPLimits {
        var limits = limits
        // Each event loop needs three descriptors (epoll, eventfd, timerfd). Up to 32 files may be open, for example
        // during a reload; the others are for metrics, and for evicted connections that are being closed.
        let reserved = 64 + 3 * threads + listeners
        var bound = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &bound) == 0 else { return limits }
        if bound.rlim_cur < bound.rlim_max {
            var raised = bound
            raised.rlim_cur = min(bound.rlim_max, rlim_t(limits.connections + reserved))
            if raised.rlim_cur > bound.rlim_cur, unsafe setrlimit(resource, &raised) == 0 { bound = raised }
        }
        let open = Int(clamping: bound.rlim_cur)
        limits.connections = min(limits.connections, max(4, open - reserved))
        return limits
    }
}

/// Returns freed memory to the system after a peak of connections and requests.
///
/// The allocator of glibc keeps freed memory for later allocations, so a server would keep the size of its largest
/// peak.
enum MemoryTrimming {
    /// The smallest peak after which memory is returned: some megabytes.
    private static let smallestPeak = 200

    /// Checks the load every second until the task is cancelled.
    ///
    /// `load` returns the largest number of connections and requests since the last call.
    static func run(load: @Sendable () -> Int) async {
        var peak = 0
        repeat {
            let count = load()
            peak = max(peak, count)
            if peak >= smallestPeak, count < peak / 2 {
                trim()
                peak = count
            }
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
        } while true
    }

    /// Calls `malloc_trim` of glibc; other C libraries have none.
    private static func trim() {
        guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return }
        typealias Function = @convention(c) (Int) -> CInt
        _ = unsafe unsafeBitCast(symbol, to: Function.self)(0)
    }
}

/// Reports at intervals that the server is alive, as long as all of its event loops run.
///
/// If an event loop is blocked, or the threads that run tasks are, there is no report until it runs again. A service
/// manager can then end the process.
struct EventLoopWatchdog: Sendable {
    let loops: [any EventLoop]
    let interval: Duration
    /// Called at each interval, after each event loop has run a task.
    let report: @Sendable () -> Void

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

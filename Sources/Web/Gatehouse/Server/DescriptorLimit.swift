// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HTTPLimits

/// The maximum number of open file descriptors of the process.
///
/// Each connection needs a descriptor.
enum DescriptorLimit {
    /// Returns the limits for HTTP clients.
    ///
    /// If there are too few file descriptors, fewer connections are allowed. If the soft limit of the process is too
    /// low, it is raised. Some descriptors are reserved for other uses, so that the process can still open files when
    /// it has many connections.
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

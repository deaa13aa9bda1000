// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import HTTPLimits

/// The limit of open file descriptors, sockets included.
enum DescriptorLimit {
    /// Returns limits whose number of connections fits into the limit of descriptors, with a reserve.
    ///
    /// The soft limit of the process is raised to the hard limit. Without a limit of connections the process could run
    /// out of descriptors, and could then open neither files nor sockets.
    static func limits(_ limits: HTTPLimits, threads: Int, listeners: Int) -> HTTPLimits {
        var limits = limits
        // Three for each event loop (epoll, eventfd, timerfd), and 32 for files, such as those that a reload opens.
        let own = 32 + 3 * threads + listeners
        var bound = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &bound) == 0 else { return limits }
        if bound.rlim_cur < bound.rlim_max {
            var raised = bound
            raised.rlim_cur = min(bound.rlim_max, rlim_t(limits.connections + own))
            if raised.rlim_cur > bound.rlim_cur, unsafe setrlimit(resource, &raised) == 0 { bound = raised }
        }
        let open = Int(clamping: bound.rlim_cur)
        limits.connections = min(limits.connections, max(4, open - own))
        return limits
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import HTTPServer

/// How many files the process may have open, sockets included.
enum DescriptorLimit {
    /// The limits with no more connections than there can be descriptors for, less a reserve.
    ///
    /// The process's own bound is raised as far as it may be. Without a bound on connections it would run out of
    /// descriptors, and then nothing works any more.
    static func limits(_ limits: HTTPLimits, threads: Int, listeners: Int) -> HTTPLimits {
        var limits = limits
        // Three for each event loop (epoll, eventfd, timerfd), and what files a reload may open at a time.
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

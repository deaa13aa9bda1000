// SPDX-License-Identifier: Apache-2.0

/// The limits of the threads, the memory and the queue for password checks.
public struct HashingSettings: Sendable, Hashable {
    /// The choice of the check that is rejected when the queue is full.
    public enum OverflowPolicy: String, Sendable, Hashable, CaseIterable {
        /// The new check is rejected.
        ///
        /// If another source has more waiting checks, the newest check of that source is rejected instead.
        case refuse
        /// The oldest check of the source with the most waiting checks is rejected, and the new check is queued.
        case cancelOldest = "cancel-oldest"
    }

    /// The number of checks that are computed at the same time, each on its own thread.
    ///
    /// The value is from 1 to 1024.
    public var workers: Int
    /// The maximum memory of all running checks together, in bytes.
    ///
    /// The default is 256 MiB. A check that takes more memory is never computed.
    public var memory = 256 << 20
    /// The maximum estimated time of one check.
    ///
    /// A check that takes longer is never computed, unless it is one of the policy. All checks of a login take at most twice
    /// this time. The default is 2 seconds: bcrypt with a cost of 15.
    public var longestCheck = Duration.seconds(2)
    /// The maximum number of waiting checks.
    ///
    /// The default is 512.
    public var queue = 512
    /// The maximum time that a check waits.
    ///
    /// A check that has waited longer is rejected.
    ///
    /// The default is 5 seconds. Users who have to wait longer try again, and so increase the load.
    public var wait = Duration.seconds(5)
    /// The choice of the check that is rejected when the queue is full.
    public var whenFull = OverflowPolicy.refuse
    /// The niceness of the worker threads, 0 to 19, as in nice(1).
    ///
    /// The default is 5, so that requests without a hash computation run first when all processors are busy, but a check
    /// beside another program on the same processor still gets a quarter of it.
    public var niceness = 5

    /// Creates settings with the defaults.
    ///
    /// - Parameter workers: The number of checks that are computed at the same time, usually the number of processors.
    public init(workers: Int) {
        self.workers = workers
    }
}

/// The counters of a ``HashingPool``.
public struct HashingStatistics: Sendable, Hashable {
    /// The number of checks that are being computed.
    public var running = 0
    /// The number of waiting checks.
    ///
    /// Identical checks are counted once.
    public var waiting = 0
    /// The memory of the running checks, in bytes.
    public var memory = 0
    /// The number of computed checks.
    public var computed = 0
    /// The number of requests that shared a check with an earlier identical request.
    public var coalesced = 0
    /// The number of requests that were rejected because the queue was full.
    public var refused = 0
    /// The number of requests that were rejected because they had waited too long.
    public var timedOut = 0
    /// The number of requests that were cancelled before their check was complete.
    public var cancelled = 0
}

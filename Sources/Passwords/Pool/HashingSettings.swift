// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The limits of the threads, the memory and the queue for password checks.
public struct HashingSettings: Sendable, Hashable {
    /// The treatment of a check when the queue is full.
    public enum Policy: String, Sendable, Hashable, CaseIterable {
        /// The check is rejected. If another source has more checks waiting, that source's newest check is rejected
        /// instead.
        case refuse
        /// The oldest waiting check of the source with the most waiting checks is rejected instead.
        case cancelOldest = "cancel-oldest"
    }

    /// The number of checks that are computed at the same time, each on its own thread; 1 to 1024.
    public var workers: Int
    /// The memory that all running checks may take together, in bytes.
    ///
    /// The default is 256 MiB. A check that takes more than this is never computed.
    public var memory = 256 << 20
    /// The number of checks that may wait; the default is 512.
    public var queue = 512
    /// The longest time that a check waits before it is rejected.
    ///
    /// The default is 5 seconds: after a longer wait users try again, which adds to the load.
    public var wait = Duration.seconds(5)
    /// The treatment of a check when the queue is full.
    public var whenFull = Policy.refuse
    /// The niceness of the worker threads, 0 to 19, as in nice(1).
    ///
    /// The default is 10: if all processors are busy, requests that need no hash run first.
    public var niceness = 10

    /// Creates settings with the defaults.
    ///
    /// - Parameter workers: The number of checks that are computed at the same time; usually the number of processors.
    public init(workers: Int) {
        self.workers = workers
    }
}

/// The counters of a ``HashingPool``.
public struct HashingStatistics: Sendable, Hashable {
    /// Checks that are being computed.
    public var running = 0
    /// Checks that wait, each identical group counted once.
    public var waiting = 0
    /// The memory of the checks that are being computed, in bytes.
    public var memory = 0
    /// Checks that have been computed.
    public var computed = 0
    /// Requests that shared the identical check of another request.
    public var coalesced = 0
    /// Requests that were rejected because the queue was full.
    public var refused = 0
    /// Requests that were rejected because they had waited too long.
    public var timedOut = 0
    /// Requests that were cancelled before they were computed.
    public var cancelled = 0
}

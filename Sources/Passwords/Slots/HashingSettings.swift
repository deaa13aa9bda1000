// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// How much of a machine password checks may take, and what becomes of those that find it taken.
public struct HashingSettings: Sendable, Hashable {
    /// What becomes of a check that finds every place in the queue taken.
    public enum Policy: String, Sendable, Hashable, CaseIterable {
        /// It is refused, unless its source has fewer checks waiting than another, whose newest then goes instead.
        case refuse
        /// The check that has waited longest, of the source with most of them, is refused instead.
        case cancelOldest = "cancel-oldest"
    }

    /// How many checks are computed at the same time, each on a thread of its own; 1 to 1024.
    public var workers: Int
    /// How much memory checks may take together, in bytes.
    ///
    /// The default is 256 MiB. A check that would take more than all of it is never made.
    public var memory = 256 << 20
    /// How many checks may wait; the default is 512.
    public var queue = 512
    /// How long a check may wait before it is refused.
    ///
    /// The default is 5 seconds: people do not wait longer before they try again, which makes it worse.
    public var wait = Duration.seconds(5)
    /// What becomes of a check that finds every place taken.
    public var whenFull = Policy.refuse
    /// By how much the workers stand back behind other threads of the system; 0 to 19, as of nice(1).
    ///
    /// The default is 10: where processors are short, requests that need no hash go first.
    public var niceness = 10

    /// The defaults.
    ///
    /// - Parameter workers: How many checks are computed at the same time; as many as there are processors is right.
    public init(workers: Int) {
        self.workers = workers
    }
}

/// How the hashing slots have been used.
public struct HashingNumbers: Sendable, Hashable {
    /// Checks that are being computed.
    public var running = 0
    /// Checks that wait, each identical group counted once.
    public var waiting = 0
    /// How much memory those that are being computed take, in bytes.
    public var memory = 0
    /// Checks that have been computed.
    public var computed = 0
    /// Requests that were answered by a check that another request had asked for.
    public var coalesced = 0
    /// Requests that were refused because too many were waiting.
    public var refused = 0
    /// Requests that were refused because they had waited too long.
    public var late = 0
    /// Requests whose client had left before they were computed.
    public var cancelled = 0
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit
internal import Synchronization
internal import Workers

/// Computes password hashes on a fixed number of threads, with a bounded queue of waiting requests.
///
/// Memory and threads never exceed the configured limits. If the queue is full, a request is rejected immediately. A
/// request that has waited longer than the configured time is rejected when the next request arrives or ends. The
/// sources (client addresses) take turns, so a source that floods the queue delays only its own requests. Identical
/// checks at the same time are computed once.
public final class HashingPool: Sendable {
    private struct Computation: Sendable {
        let result: HashingResult
        let begin: UInt64
        let end: UInt64
    }

    private typealias Answer = Result<Computation, FairSlots.Refusal>

    /// The limits.
    public let settings: HashingSettings
    private let now: @Sendable () -> UInt64
    private let slots: FairSlots
    private let shared = SharedCalls<Digest, Answer>()
    private let workers: Workers<Void>
    private let counts = Mutex(HashingStatistics())

    /// Creates a pool with a monotonic clock in nanoseconds; its threads are started when they are needed, and end when it
    /// is released.
    public init(_ settings: HashingSettings, now: @escaping @Sendable () -> UInt64) {
        self.settings = settings
        self.now = now
        slots = FairSlots(
            count: settings.workers,
            queue: settings.queue,
            wait: settings.wait.nanoseconds,
            cancelsOldest: settings.whenFull == .cancelOldest,
            unlimitedSource: nil,
            capacity: settings.memory,
            now: now
        )
        workers = Workers(niceness: settings.niceness, idleTime: nil) { .init(()) }
    }

    deinit { workers.close() }

    /// The counters.
    public var statistics: HashingStatistics {
        let load = slots.load
        var statistics = counts.withLock { $0 }
        (statistics.running, statistics.waiting, statistics.memory) = (load.held, load.waiting, load.weight)
        statistics.coalesced = shared.joined
        return statistics
    }

    /// Runs work of a few microseconds on the thread of the caller.
    func runAtOnce(_ work: () -> HashingResult) -> TimedHashingResult {
        let begin = now()
        let result = work()
        counts.withLock { $0.computed += 1 }
        return TimedHashingResult(result: result, waitTime: 0, runTime: now() &- begin)
    }

    /// Queues work of at most ``HashingSettings/memory`` bytes, and runs it on a thread of the pool; sources take turns.
    ///
    /// Requests with the same key at the same time share one computation; without a key the work is never shared. The
    /// work may block its thread.
    func run(
        memory: Int,
        source: String,
        key: Digest?,
        work: @escaping @Sendable () -> HashingResult
    ) async throws(FairSlots.Refusal) -> TimedHashingResult {
        // Its turn would never come; ``PasswordService/limitFault(_:)`` refuses such hashes before.
        guard memory <= settings.memory else { throw .full }
        let start = now()
        let owner = JobOwner(source: source, account: nil)
        let answer = await shared.value(of: key) { complete in
            // The work goes on without a caller that is cancelled.
            let number = workers.begin(for: owner, in: slots, weight: memory) { refusal in
                complete(.failure(refusal))
            } _: { [self] _, slot in
                let begin = now()
                let computation = Computation(result: work(), begin: begin, end: now())
                counts.withLock { $0.computed += 1 }
                return { [slots] in
                    slots.release(slot)
                    complete(.success(computation))
                }
            }
            return { [slots] in slots.cancel(number) }
        }
        switch answer ?? .failure(.cancelled) {
        case .success(let computation):
            let (begin, end) = (computation.begin, computation.end)
            let waitTime = begin > start ? begin - start : 0
            return TimedHashingResult(result: computation.result, waitTime: waitTime, runTime: end &- begin)
        case .failure(let refusal):
            counts.withLock { $0.count(refusal) }
            throw refusal
        }
    }
}

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

    /// The number of checks that are computed at the same time, each on its own thread, from 1 to 1024.
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
    /// The maximum number of waiting checks, at most some thousands; the default is 512.
    public var queue = 512
    /// The maximum time that a check waits before it is rejected.
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

    /// Creates settings with the defaults; `workers` is usually the number of processors.
    public init(workers: Int) { self.workers = workers }
}

/// The counters of a ``HashingPool``.
public struct HashingStatistics: Sendable, Hashable {
    /// The number of checks that are being computed.
    public var running = 0
    /// The number of waiting checks, identical ones counted once.
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

    mutating func count(_ refusal: FairSlots.Refusal) {
        switch refusal {
        case .full: refused += 1
        case .timedOut: timedOut += 1
        case .cancelled: cancelled += 1
        case .noThread: break
        }
    }
}

struct TimedHashingResult: Sendable {
    let result: HashingResult
    /// The time between the request and the start of the work, in nanoseconds; 0 if the work was already running.
    let waitTime: UInt64
    /// In nanoseconds.
    let runTime: UInt64
}

enum HashingResult: Sendable {
    /// True if the password matches.
    case checked(Bool)
    case hashed(String)
    /// The library could not compute the hash.
    case failed(HashFault)
}

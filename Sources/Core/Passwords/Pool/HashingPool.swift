// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit

/// Computes password hashes on a fixed number of threads, with a bounded queue of waiting requests.
///
/// Memory and threads never exceed the configured limits. If the queue is full, a request is rejected immediately. A
/// request that has waited longer than the configured time is rejected when the next request arrives or ends. The
/// sources (client addresses) take turns, so a source that floods the queue delays only its own requests. Identical
/// checks at the same time are computed once.
public final class HashingPool: Sendable {
    let scheduler: HashingScheduler

    /// Creates a pool.
    ///
    /// Its threads are started when they are needed. They end when the pool is released.
    ///
    /// - Parameters:
    ///   - settings: The limits.
    ///   - now: The time of a monotonic clock, in nanoseconds.
    public init(_ settings: HashingSettings, now: @escaping @Sendable () -> UInt64) {
        scheduler = HashingScheduler(settings, now: now)
    }

    deinit { scheduler.close() }

    /// The limits.
    public var settings: HashingSettings { scheduler.settings }

    /// The counters.
    public var statistics: HashingStatistics { scheduler.statistics }

    /// Runs work at once, on the thread of the caller.
    ///
    /// - Parameter work: The work; it takes a few microseconds at most.
    /// - Returns: The result of `work` and its running time.
    func runAtOnce(_ work: () -> HashingResult) -> TimedHashingResult {
        let begin = scheduler.now()
        let result = work()
        scheduler.countComputation()
        return TimedHashingResult(result: result, waitTime: 0, runTime: scheduler.now() &- begin)
    }

    /// Queues work and runs it on a thread of the pool.
    ///
    /// - Parameters:
    ///   - memory: The memory that the work takes, in bytes.
    ///   - source: The source of the request. Sources take turns.
    ///   - key: The identity of the work. Requests with the same key at the same time share one computation. Nil if the
    ///     work is never shared.
    ///   - work: The work. It may block its thread.
    /// - Returns: The result of `work`, its time in the queue and its running time.
    /// - Throws: ``HashingRefusal`` if the work was not run.
    func run(
        memory: Int,
        source: String,
        key: Digest?,
        work: @escaping @Sendable () -> HashingResult
    ) async throws(HashingRefusal) -> TimedHashingResult {
        guard memory <= settings.memory else { throw .exceedsMemoryLimit }
        let request = HashingScheduler.HashingRequest(memory: memory, source: source, key: key, work: work)
        let ticket = HashingScheduler.Ticket()
        let scheduler = scheduler
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { scheduler.submit(ticket, continuation: $0, request: request) }
        } onCancel: {
            scheduler.cancel(ticket)
        }
        return try result.get()
    }
}

/// The result of work in a ``HashingPool``, with its times.
struct TimedHashingResult: Sendable {
    let result: HashingResult
    /// The time between the request and the start of the work, in nanoseconds; 0 if the work was already running.
    let waitTime: UInt64
    /// The running time of the work, in nanoseconds.
    let runTime: UInt64
}

/// The result of work in a ``HashingPool``.
enum HashingResult: Sendable {
    /// The result of a check: true if the password matches.
    case checked(Bool)
    /// A new hash.
    case hashed(String)
    /// The library could not compute the hash.
    case failed(HashFault)
}

/// The reason why work was not run.
enum HashingRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The queue is full.
    case full
    /// The request has waited too long.
    case timedOut
    /// The caller has cancelled the request.
    case cancelled
    /// The work takes more memory than the limit for all work together.
    case exceedsMemoryLimit
    /// No thread could be started.
    case noThread

    var description: String {
        switch self {
        case .full: "the machine is busy: too many password checks are waiting"
        case .timedOut: "the machine is busy: the password check has waited too long for its turn"
        case .cancelled: "the password check was cancelled"
        case .exceedsMemoryLimit: "the password check takes more memory than the limit for all checks"
        case .noThread: "no thread for password checks could be started"
        }
    }
}

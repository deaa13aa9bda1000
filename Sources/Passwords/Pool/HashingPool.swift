// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit

/// A fixed number of threads that compute password hashes, and a bounded queue in front of them.
///
/// Memory and threads never exceed the configured limits. A request that has waited longer than the configured time is
/// rejected when the next request arrives or ends; a request that finds the queue full is rejected at once. Sources
/// (network addresses) take turns, so a source that floods the queue delays only itself. Identical checks at the same
/// time are computed once.
public final class HashingPool: Sendable {
    let scheduler: HashingScheduler

    /// Creates a pool.
    ///
    /// Its threads are started when they are first needed and end when the pool is released.
    ///
    /// - Parameters:
    ///   - settings: The limits.
    ///   - now: Nanoseconds of a monotonic clock.
    public init(_ settings: HashingSettings, now: @escaping @Sendable () -> UInt64) {
        scheduler = HashingScheduler(settings, now: now)
    }

    deinit { scheduler.close() }

    /// The limits.
    public var settings: HashingSettings { scheduler.settings }

    /// The counters.
    public var numbers: HashingStatistics { scheduler.numbers }

    /// Runs work on a thread of the pool, in its turn.
    ///
    /// - Parameters:
    ///   - memory: The memory that the work takes, in bytes.
    ///   - source: The source of the request; sources take turns.
    ///   - key: Identifies the work: of several requests with the same key at the same time, one is computed for all.
    ///     Nil if the work is never shared.
    ///   - work: The work; it may block its thread for as long as it takes.
    /// - Returns: The result of `work`, its time in the queue and its running time.
    /// - Throws: ``HashingRefusal`` if the work was not run.
    func run(
        memory: Int,
        source: String,
        key: Digest?,
        work: @escaping @Sendable () -> HashingResult
    ) async throws(HashingRefusal) -> Hashed {
        guard memory <= settings.memory else { throw .tooBig }
        let request = HashingScheduler.HashingRequest(memory: memory, source: source, key: key, work: work)
        let ticket = HashingScheduler.Ticket()
        let scheduler = scheduler
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { scheduler.enter(ticket, continuation: $0, request: request) }
        } onCancel: {
            scheduler.cancel(ticket)
        }
        return try result.get()
    }
}

/// The result of work in a ``HashingPool``, with its times.
struct Hashed: Sendable {
    let result: HashingResult
    /// Nanoseconds between the request and the start of the work; 0 if the work was running already.
    let waited: UInt64
    /// Nanoseconds of the work.
    let took: UInt64
}

/// The result of work in a ``HashingPool``.
enum HashingResult: Sendable {
    /// The result of a check: true if the password matches.
    case checked(Bool)
    /// A new hash.
    case hashed(String)
    /// The library could not compute it.
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
    case tooBig
    /// No thread could be started.
    case noThread

    var description: String {
        switch self {
        case .full: "too many password checks are waiting"
        case .timedOut: "the password check has waited too long for its turn"
        case .cancelled: "the password check was cancelled"
        case .tooBig: "the password check takes more memory than the limit for all checks"
        case .noThread: "no thread for password checks could be started"
        }
    }
}

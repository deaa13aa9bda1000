// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit

/// A fixed number of threads that compute password hashes, and a bounded queue in front of them.
///
/// Whatever arrives, no more than the configured memory is in use and no more threads run than there are slots. Nobody is
/// served who has waited longer than the configured time, and is told so when the next one comes or is done; who finds the
/// queue full is told at once. Sources (network addresses) take turns,
/// so that one that floods waits for itself. Identical checks that are on their way are computed once.
public final class HashingSlots: Sendable {
    let core: HashingCore

    /// Slots, whose threads are started when they are first needed and end when this object goes.
    ///
    /// - Parameters:
    ///   - settings: How many, and what they may take.
    ///   - now: Nanoseconds of a monotonic clock.
    public init(_ settings: HashingSettings, now: @escaping @Sendable () -> UInt64) {
        core = HashingCore(settings, now: now)
    }

    deinit { core.close() }

    /// What the slots may take.
    public var settings: HashingSettings { core.settings }

    /// How they have been used.
    public var numbers: HashingNumbers { core.numbers }

    /// Computes something in its turn.
    ///
    /// - Parameters:
    ///   - memory: How much memory it takes, in bytes.
    ///   - source: For whom; sources take turns.
    ///   - key: What it computes; of several that are on their way with the same key one is computed, for all. Nil if
    ///     there is nothing like it.
    ///   - work: Computes it, on a thread that may be busy for as long as it takes.
    /// - Returns: What `work` gave, how long it waited and how long it took.
    /// - Throws: ``HashingRefusal`` when it was not computed.
    func run(
        memory: Int,
        source: String,
        key: Digest?,
        _ work: @escaping @Sendable () -> HashingResult
    ) async throws(HashingRefusal) -> Hashed {
        guard memory <= settings.memory else { throw .tooBig }
        let order = HashingCore.Order(memory: memory, source: source, key: key, work: work)
        let ticket = HashingCore.Ticket()
        let core = core
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { core.enter(ticket, $0, order) }
        } onCancel: {
            core.cancel(ticket)
        }
        return try result.get()
    }
}

/// What was computed in a slot, and what it took.
struct Hashed: Sendable {
    let result: HashingResult
    /// Nanoseconds between the request and the beginning of the work; 0 if it had begun already.
    let waited: UInt64
    /// Nanoseconds of the work.
    let took: UInt64
}

/// What comes of work in a slot.
enum HashingResult: Sendable {
    /// Whether a password is the one that is stored.
    case checked(Bool)
    /// A new hash.
    case hashed(String)
    /// Neither.
    case failed(HashFault)
}

/// Why something was not computed.
enum HashingRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// Too many are waiting.
    case full
    /// It has waited too long.
    case late
    /// Nobody waits for it any more.
    case cancelled
    /// It would take more memory than all slots together may.
    case tooBig
    /// No thread could be started.
    case noThread

    var description: String {
        switch self {
        case .full: "too many password checks are waiting"
        case .late: "the password check has waited too long for its turn"
        case .cancelled: "nobody waits for the password check any more"
        case .tooBig: "the password check takes more memory than all checks together may"
        case .noThread: "no thread for password checks could be started"
        }
    }
}

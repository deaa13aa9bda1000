// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// Finds the policy whose hash takes about a given time on this machine.
///
/// It computes several hashes on the calling thread, so it takes several times as long as its target. Run it while the
/// machine is otherwise idle.
public struct Calibration: Sendable {
    /// A policy and the time of its hash.
    public struct Result: Sendable, Hashable {
        /// The policy.
        public let policy: HashPolicy
        /// The time of one hash.
        public let time: Duration
    }

    private let target: Duration
    private let now: @Sendable () -> Duration
    private let work: @Sendable (HashPolicy) throws(HashFault) -> Void

    /// Creates a calibration.
    ///
    /// - Parameters:
    ///   - target: The time that a hash is to take. A tenth of a second is noticeable for a user, and allows a server
    ///     few logins a second.
    ///   - now: The time of a monotonic clock, counted from any moment.
    public init(target: Duration, now: @escaping @Sendable () -> Duration) {
        self.init(target: target, now: now) { policy throws(HashFault) in
            _ = try policy.hash(Secret(utf8: "correct horse battery staple"))
        }
    }

    /// Creates a calibration that measures other work, for tests.
    init(
        target: Duration,
        now: @escaping @Sendable () -> Duration,
        work: @escaping @Sendable (HashPolicy) throws(HashFault) -> Void
    ) {
        self.target = target
        self.now = now
        self.work = work
    }

    /// Finds a policy of Argon2id with one lane: as much memory as the target allows, up to the budget, then as many
    /// passes.
    ///
    /// The result is never below OWASP's minimum of 19 MiB and 2 passes, unless the budget is smaller, so the hash may
    /// take longer than the target on a slow machine.
    ///
    /// - Parameter budget: The most memory of one hash, in bytes; several hashes may be computed at the same time.
    /// - Returns: The policy and the time of its hash.
    /// - Throws: ``HashFault`` if a hash cannot be computed.
    public func argon2id(memory budget: Int) throws(HashFault) -> Result {
        let most = min(max(64, budget >> 10), Argon2.Parameters.mostMemory)
        let least = min(19 << 10, most)
        var (memory, passes) = (least, 2)
        var best = try measure(.argon2id(memory: memory, passes: passes, lanes: 1))
        // Apart from caches, the time is proportional to memory times passes: three guesses are near enough.
        for _ in 0..<3 where best.time < target && memory < most {
            // In steps of a MiB, which are easy to read.
            let guess = Int(Double(memory) * (target / best.time)) & ~1023
            let next = min(max(guess, least), most)
            guard next > memory else { break }
            let tried = try measure(.argon2id(memory: next, passes: passes, lanes: 1))
            guard tried.time <= target * 1.1 else { break }
            (memory, best) = (next, tried)
        }
        guard memory == most else { return best }
        let limit = min(Argon2.Parameters.mostPasses, Argon2.Parameters.mostWork / memory)
        for _ in 0..<3 {
            let next = min(max(Int(Double(passes) * (target / best.time)), 2), limit)
            guard next > passes else { break }
            let tried = try measure(.argon2id(memory: memory, passes: next, lanes: 1))
            guard tried.time <= target * 1.1 else { break }
            (passes, best) = (next, tried)
        }
        return best
    }

    /// Finds the highest cost of bcrypt within the target, at least 10.
    ///
    /// - Returns: The policy and the time of its hash.
    /// - Throws: ``HashFault`` if a hash cannot be computed.
    public func bcrypt() throws(HashFault) -> Result {
        var best = try measure(.bcrypt(cost: 10))
        for cost in 11...HashBounds.bcrypt.upperBound {
            guard best.time * 2 <= target * 1.1 else { break }
            best = try measure(.bcrypt(cost: cost))
        }
        return best
    }

    /// The shorter of two runs: a disturbance makes a run longer, never shorter.
    private func measure(_ scheme: HashScheme) throws(HashFault) -> Result {
        let policy = HashPolicy(scheme)
        var best = Duration.seconds(86_400)
        for _ in 0..<2 {
            let begin = now()
            try work(policy)
            best = min(best, now() - begin)
        }
        return Result(policy: policy, time: max(best, .nanoseconds(1)))
    }
}

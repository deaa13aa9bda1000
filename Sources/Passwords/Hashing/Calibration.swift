// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// Finds the policy whose hash takes about as long on this machine as one is willing to wait.
///
/// It hashes, a few times and on the thread that asks, so it takes several times as long as its target. Run it where
/// nothing else is running.
public struct Calibration: Sendable {
    /// What was found.
    public struct Result: Sendable, Hashable {
        /// The policy.
        public let policy: HashPolicy
        /// What one hash of it took.
        public let time: Duration
    }

    private let target: Duration
    private let now: @Sendable () -> Duration
    private let work: @Sendable (HashPolicy) throws(HashFault) -> Void

    /// A calibration.
    ///
    /// - Parameters:
    ///   - target: How long a hash is to take; a tenth of a second is much for whoever signs in and little for the server.
    ///   - now: The time since any one moment, of a clock that only goes forward.
    public init(target: Duration, now: @escaping @Sendable () -> Duration) {
        self.init(target: target, now: now) { policy throws(HashFault) in
            _ = try policy.hash(Secret(utf8: "correct horse battery staple"))
        }
    }

    /// A calibration of some other work, for tests.
    init(
        target: Duration,
        now: @escaping @Sendable () -> Duration,
        work: @escaping @Sendable (HashPolicy) throws(HashFault) -> Void
    ) {
        self.target = target
        self.now = now
        self.work = work
    }

    /// Looks for Argon2id with one lane: as much memory as the target allows, up to the budget, then as many passes.
    ///
    /// It does not go below OWASP's least of 19 MiB and 2 passes, unless the budget is smaller, so that it may take longer
    /// than the target on a slow machine.
    ///
    /// - Parameter memory: The budget in bytes; that of one hash, of which several may run.
    /// - Returns: The policy, and what a hash of it took.
    /// - Throws: ``HashFault`` if it cannot be measured.
    public func argon2id(memory budget: Int) throws(HashFault) -> Result {
        let most = min(max(64, budget >> 10), Argon2.Parameters.mostMemory)
        let least = min(19 << 10, most)
        var (memory, passes) = (least, 2)
        var best = try measure(.argon2id(memory: memory, passes: passes, lanes: 1))
        // The time is in proportion to memory times passes, but for the caches: three guesses come near enough.
        for _ in 0..<3 where best.time < target && memory < most {
            // In steps of a MiB, so that it can be read.
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

    /// Looks for the highest cost of bcrypt that stays within the target, 10 at the least.
    ///
    /// - Returns: The policy, and what a hash of it took.
    /// - Throws: ``HashFault`` if it cannot be measured.
    public func bcrypt() throws(HashFault) -> Result {
        var best = try measure(.bcrypt(cost: 10))
        for cost in 11...HashBounds.bcrypt.upperBound {
            guard best.time * 2 <= target * 1.1 else { break }
            best = try measure(.bcrypt(cost: cost))
        }
        return best
    }

    /// The better of two runs: what disturbs a run makes it longer, never shorter.
    private func measure(_ scheme: HashPolicy.Scheme) throws(HashFault) -> Result {
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

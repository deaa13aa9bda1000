// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// Finds the policy whose hash takes about a given time on this machine.
///
/// Several hashes are computed on the calling thread, so a calibration takes several times the target time. Run it on
/// an idle machine.
package struct Calibration: Sendable {
    /// A policy and the time of its hash.
    package struct Result: Sendable, Hashable {
        package let policy: HashPolicy
        package let time: Duration
    }

    private let target: Duration
    private let now: @Sendable () -> Duration
    private let work: @Sendable (HashPolicy) throws(HashFault) -> Void

    /// Creates a calibration for the wanted time of one hash, measured with a monotonic clock.
    ///
    /// Users notice a delay of 100 ms, and each core can then check only ten passwords per second.
    package init(target: Duration, now: @escaping @Sendable () -> Duration) {
        self.init(target: target, now: now) { policy throws(HashFault) in
            _ = try policy.hash(Secret(utf8: "correct horse battery staple"))
        }
    }

    /// Creates a calibration that measures the given work instead of hashes, for tests.
    init(
        target: Duration,
        now: @escaping @Sendable () -> Duration,
        work: @escaping @Sendable (HashPolicy) throws(HashFault) -> Void
    ) {
        self.target = target
        self.now = now
        self.work = work
    }

    /// Finds the strongest policy of Argon2id with one lane whose hash takes about the target time.
    ///
    /// The memory is raised first, up to the budget in bytes, which a server needs for each hash that it computes at the
    /// same time. Then the number of passes is raised. The result has at least OWASP's minimum of 19 MiB and 2 passes, or
    /// less memory if the budget is smaller. On a slow machine its hash may therefore take longer than the target.
    package func argon2id(memory budget: Int) throws(HashFault) -> Result {
        let maximum = min(max(64, budget >> 10), Argon2.Parameters.maximumMemory)
        let minimum = min(19 << 10, maximum)
        var (memory, passes) = (minimum, 2)
        var best = try measure(.argon2id(memory: memory, passes: passes, lanes: 1))
        // The time is almost proportional to memory times passes, so three attempts are enough.
        for _ in 0..<3 where best.time < target && memory < maximum {
            // The memory is a multiple of 1 MiB, so that the policy is easy to read.
            let guess = Int(Double(memory) * (target / best.time)) & ~1023
            let next = min(max(guess, minimum), maximum)
            guard next > memory else { break }
            let tried = try measure(.argon2id(memory: next, passes: passes, lanes: 1))
            guard tried.time <= target * 1.1 else { break }
            (memory, best) = (next, tried)
        }
        guard memory == maximum else { return best }
        let limit = min(Argon2.Parameters.maximumPasses, Argon2.Parameters.maximumWork / memory)
        for _ in 0..<3 {
            let next = min(max(Int(Double(passes) * (target / best.time)), 2), limit)
            guard next > passes else { break }
            let tried = try measure(.argon2id(memory: memory, passes: next, lanes: 1))
            guard tried.time <= target * 1.1 else { break }
            (passes, best) = (next, tried)
        }
        return best
    }

    /// Finds the highest cost of bcrypt, at least 10, whose hash takes about the target time.
    package func bcrypt() throws(HashFault) -> Result {
        var best = try measure(.bcrypt(cost: 10))
        for cost in 11...CostBounds.bcrypt.upperBound {
            guard best.time * 2 <= target * 1.1 else { break }
            best = try measure(.bcrypt(cost: cost))
        }
        return best
    }

    /// Returns the shorter time of two runs, because other work of the machine can only make a run slower.
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

// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import Passwords
internal import Synchronization

/// Logs the password checks that the hashing pool has rejected, at most every ten seconds.
final class HashingRejectionLog: Sendable {
    private static let minimumInterval = Duration.seconds(10)

    private struct State {
        /// The number of rejected checks that have been logged.
        var logged = 0
        var last: ContinuousClock.Instant?
    }

    private let logger: Logger
    private let state = Mutex(State())

    init(_ logger: Logger) {
        self.logger = logger
    }

    /// Logs the checks that were rejected since the last log line, if there are any.
    ///
    /// - Parameters:
    ///   - pool: The pool that computes the hashes.
    ///   - now: The current time.
    func logRejections(of pool: HashingPool, now: ContinuousClock.Instant = .now) {
        let numbers = pool.statistics
        let rejected = numbers.refused + numbers.timedOut
        let newRejections = state.withLock { state -> Int in
            // After a reload, the counts of the new pool begin at zero.
            if rejected < state.logged { state.logged = 0 }
            guard rejected > state.logged, state.last.map({ now - $0 >= Self.minimumInterval }) ?? true else {
                return 0
            }
            defer { state = State(logged: rejected, last: now) }
            return rejected - state.logged
        }
        guard newRejections > 0 else { return }
        logger.warning(
            "password checks were refused, as too many were waiting",
            metadata: [
                "refused": "\(newRejections)", "waiting": "\(numbers.waiting)", "running": "\(numbers.running)",
                "workers": "\(pool.settings.workers)",
            ]
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Logging
internal import Passwords
internal import Synchronization

/// Tells the log when password checks had to be refused, at most every ten seconds.
final class HashingReport: Sendable {
    private static let pause = Duration.seconds(10)

    private struct State {
        /// How many had been refused when it was last told.
        var told = 0
        var last: ContinuousClock.Instant?
    }

    private let logger: Logger
    private let state = Mutex(State())

    init(_ logger: Logger) {
        self.logger = logger
    }

    /// Looks whether any were refused since it was last told.
    ///
    /// - Parameters:
    ///   - slots: Where they would have been made.
    ///   - now: The moment.
    func look(at slots: HashingSlots, now: ContinuousClock.Instant = .now) {
        let numbers = slots.numbers
        let refused = numbers.refused + numbers.late
        let news = state.withLock { state -> Int in
            // Other slots than before begin at nothing.
            if refused < state.told { state.told = 0 }
            guard refused > state.told, state.last.map({ now - $0 >= Self.pause }) ?? true else { return 0 }
            defer { state = State(told: refused, last: now) }
            return refused - state.told
        }
        guard news > 0 else { return }
        logger.warning(
            "password checks were refused, as too many were waiting",
            metadata: [
                "refused": "\(news)", "waiting": "\(numbers.waiting)", "running": "\(numbers.running)",
                "workers": "\(slots.settings.workers)",
            ]
        )
    }
}

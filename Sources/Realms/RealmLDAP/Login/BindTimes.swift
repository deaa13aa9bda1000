// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Synchronization
internal import Workers

/// The times that the last binds took, by which all refusals take as long.
///
/// For an unknown user there is nothing to bind as, and a directory refuses some binds without computing the hash of the
/// password, for example those of locked users. Such answers would come early, and reveal which users exist. They wait as
/// long as one of the last binds with a wrong password took.
final class BindTimes: Sendable {
    /// The last times, in nanoseconds.
    private struct Times {
        private(set) var all: [UInt64] = []
        private var next = 0

        mutating func add(_ time: UInt64) {
            if all.count < BindTimes.count {
                all.append(time)
            } else {
                all[next] = time
                next = (next + 1) % BindTimes.count
            }
        }
    }

    private struct State {
        var accepted = Times()
        var refused = Times()
        /// A refusal in less time has computed no hash: half of the median of the accepted binds.
        var limit: UInt64 = 0
    }

    private static let count = 32
    /// A bind that has waited for a server would delay the logins of unknown users for no reason.
    private static let maximum: UInt64 = 2_000_000_000

    private let state = Mutex(State())

    /// Records an accepted bind, for which the directory has computed a hash.
    ///
    /// - Parameter start: The time at which it began, of `MonotonicTime`.
    func addAccepted(since start: UInt64) {
        let time = Self.time(since: start)
        state.withLock { state in
            state.accepted.add(time)
            state.limit = state.accepted.all.sorted()[state.accepted.all.count / 2] / 2
        }
    }

    /// Records a refused bind.
    ///
    /// - Parameter start: The time at which it began, of `MonotonicTime`.
    /// - Returns: The time for which the answer must wait.
    func addRefused(since start: UInt64) -> Duration {
        let time = Self.time(since: start)
        return state.withLock { state in
            guard time < state.limit else {
                state.refused.add(time)
                return .zero
            }
            return Self.missing(state, after: time)
        }
    }

    /// Returns the time by which a bind with a wrong password would have taken longer.
    ///
    /// - Parameter start: The time at which the bind began, of `MonotonicTime`.
    /// - Returns: The time for which the answer must wait.
    func missing(since start: UInt64) -> Duration {
        let time = Self.time(since: start)
        return state.withLock { Self.missing($0, after: time) }
    }

    private static func missing(_ state: State, after time: UInt64) -> Duration {
        let sample = sample(state)
        return .nanoseconds(Int64(clamping: sample > time ? sample - time : 0))
    }

    /// Returns the time for which the answer for an unknown user must wait; zero if no bind is known.
    func sample() -> Duration { state.withLock { .nanoseconds(Int64(clamping: Self.sample($0))) } }

    private static func sample(_ state: State) -> UInt64 {
        // Early refusals may have been recorded before the first accepted bind.
        state.refused.all.filter { $0 >= state.limit }.randomElement() ?? state.accepted.all.randomElement() ?? 0
    }

    private static func time(since start: UInt64) -> UInt64 { min(MonotonicTime.now &- start, maximum) }
}
#endif

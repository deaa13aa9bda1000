// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import Synchronization
internal import Workers

/// The times that the last binds took, in nanoseconds, by which all refusals take as long.
///
/// For an unknown user there is nothing to bind as, and a directory refuses some binds without computing the hash of
/// the password, for example those of locked users. Such answers would come early, and reveal which users exist. They
/// wait as long as one of the last binds with a wrong password took. Binds begin at times of `MonotonicTime`.
final class BindTimes: Sendable {
    private struct State {
        var accepted: [UInt64] = []
        var refused: [UInt64] = []

        /// A refusal in less time has computed no hash: half of the median of the accepted binds.
        var limit: UInt64 { accepted.isEmpty ? 0 : accepted.sorted()[accepted.count / 2] / 2 }

        /// Returns the time by which a bind with a wrong password would have taken longer; zero if no bind is known.
        func missing(after time: UInt64) -> Duration {
            // Early refusals may have been recorded before the first accepted bind.
            let limit = limit
            let sample = refused.filter { $0 >= limit }.randomElement() ?? accepted.randomElement() ?? 0
            return .nanoseconds(Int64(clamping: sample > time ? sample - time : 0))
        }
    }

    private static let count = 32
    /// A bind that has waited for a server would delay the logins of unknown users for no reason.
    private static let maximum: UInt64 = 2_000_000_000

    private let state = Mutex(State())

    /// Records an accepted bind, for which the directory has computed a hash.
    func addAccepted(since start: UInt64) {
        state.withLock { Self.add(Self.time(since: start), to: &$0.accepted) }
    }

    /// Records a refused bind, and returns the time for which the answer must wait.
    func addRefused(since start: UInt64) -> Duration {
        let time = Self.time(since: start)
        return state.withLock { state in
            guard time >= state.limit else { return state.missing(after: time) }
            Self.add(time, to: &state.refused)
            return .zero
        }
    }

    /// Returns the time by which a bind with a wrong password would have taken longer.
    func missing(since start: UInt64) -> Duration {
        let time = Self.time(since: start)
        return state.withLock { $0.missing(after: time) }
    }

    /// Returns the time for which the answer for an unknown user must wait; zero if no bind is known.
    func sample() -> Duration { state.withLock { $0.missing(after: 0) } }

    private static func add(_ time: UInt64, to times: inout [UInt64]) {
        if times.count == count { times.removeFirst() }
        times.append(time)
    }

    private static func time(since start: UInt64) -> UInt64 { min(MonotonicTime.now &- start, maximum) }
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
internal import Synchronization
internal import WorkerThreads

/// The times that the last binds with a wrong password took.
///
/// For an unknown user there is nothing to bind as, so the answer would come earlier than for a wrong password, and would
/// reveal which users exist. Such a login waits as long as one of the last rejected binds took.
final class BindTimes: Sendable {
    private struct State {
        var times: [UInt64] = []
        var next = 0
    }

    private static let count = 32
    /// A bind that has waited for a server would delay the logins of unknown users for no reason.
    private static let maximum: UInt64 = 2_000_000_000

    private let state = Mutex(State())

    /// Records a rejected bind.
    ///
    /// - Parameter start: The time at which it began, of `MonotonicTime`.
    func add(since start: UInt64) {
        let time = min(MonotonicTime.now - start, Self.maximum)
        state.withLock { state in
            if state.times.count < Self.count {
                state.times.append(time)
            } else {
                state.times[state.next] = time
                state.next = (state.next + 1) % Self.count
            }
        }
    }

    /// Returns one of the times; zero if there is none yet.
    func sample() -> Duration {
        state.withLock { .nanoseconds(Int64(clamping: $0.times.randomElement() ?? 0)) }
    }
}
#endif

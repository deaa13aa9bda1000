// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Workers

/// One request to a helper, with its deadline and its cancellation.
///
/// The thread that serves the request waits with it; any thread may cancel it or wake the waiting thread.
package final class HelperCall: Sendable {
    private struct State {
        var isCancelled = false
        var deadline: UInt64
        /// The wake-up of the thread that serves the request; nil before and after.
        var wake: WakeUp?
    }

    private let state: Mutex<State>
    /// Is called at least twice a second during a wait.
    let tick: @Sendable () -> Void

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the wait for an answer ends, of ``MonotonicTime``.
    ///   - tick: Is called at least twice a second during a wait.
    init(until deadline: UInt64, tick: @escaping @Sendable () -> Void) {
        state = Mutex(State(deadline: deadline))
        self.tick = tick
    }

    /// The time at which the wait for an answer ends, of ``MonotonicTime``.
    ///
    /// The thread of the request sets it to exclude the time in which the helper waits for the user.
    package var deadline: UInt64 {
        get { state.withLock { $0.deadline } }
        set { state.withLock { $0.deadline = newValue } }
    }

    /// Ends the wait of the thread with a fault of code `cancelled`.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        wakeUp()
    }

    /// Ends the current wait of the thread, so that it reads what has changed.
    package func wakeUp() { state.withLock { $0.wake }?.signal() }

    /// The fault of a request that has waited too long: one of load, because no helper has seen the request.
    static let waitedTooLong = HelperFault(.full, "no helper process was free in time")

    /// The wake-up of the thread that serves the request.
    ///
    /// The thread sets it before it calls ``check()`` for the first time, because the request may have been cancelled
    /// before. It ends with the request, so that a late call of ``wakeUp()`` does not disturb the next one.
    var wake: WakeUp? {
        get { state.withLock { $0.wake } }
        set { state.withLock { $0.wake = newValue } }
    }

    /// Throws if the request is cancelled or late; a request that still waits for a helper is late because of load.
    func check(isWaiting: Bool = false) throws(HelperFault) {
        let (isCancelled, deadline) = state.withLock { ($0.isCancelled, $0.deadline) }
        if isCancelled { throw HelperFault(.cancelled, "the login was cancelled") }
        guard MonotonicTime.now >= deadline else { return }
        throw isWaiting ? Self.waitedTooLong : HelperFault(.timedOut, "no answer in time")
    }
}

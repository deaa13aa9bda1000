// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// One request to a helper, with its deadline and its cancellation.
///
/// The thread that serves the request waits with it; any thread may cancel it or wake the waiting thread.
package final class HelperCall: Sendable {
    private struct State {
        var isCancelled = false
        var deadline: UInt64
        /// Is created by the thread that serves the request: a request in the queue has no descriptor.
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

    /// Returns the wake-up for the waits of the thread that serves the request.
    ///
    /// Only this thread calls it. It calls ``check()`` afterwards, because the request may have been cancelled before the
    /// wake-up was there.
    ///
    /// - Returns: The same wake-up each time.
    /// - Throws: ``HelperFault`` with code `cannotStart` if the system has no more descriptors.
    func wakeUpOfThread() throws(HelperFault) -> WakeUp {
        if let wake = state.withLock({ $0.wake }) { return wake }
        let wake = try WakeUp()
        state.withLock { $0.wake = wake }
        return wake
    }

    /// Throws if the request is cancelled or late.
    func check() throws(HelperFault) {
        let (isCancelled, deadline) = state.withLock { ($0.isCancelled, $0.deadline) }
        if isCancelled { throw HelperFault(.cancelled, "the login was cancelled") }
        if MonotonicTime.now >= deadline { throw HelperFault(.timedOut, "no answer in time") }
    }
}

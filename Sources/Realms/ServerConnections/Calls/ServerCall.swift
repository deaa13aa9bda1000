// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Glibc
internal import Synchronization
internal import Workers

/// One call to the servers, with its deadline and its cancellation, which any thread may request and which ends the wait of
/// the call's thread at once.
package final class ServerCall: Sendable {
    private struct State {
        var isCancelled = false
        /// Nil if the thread does not wait.
        var interruption: WaitWatch.Interruption?
    }

    /// The time at which the call ends, of `MonotonicTime`.
    package let deadline: UInt64
    private let state = Mutex(State())

    package init(until deadline: UInt64) { self.deadline = deadline }

    /// Returns the end of one step of the call, of `MonotonicTime`: the deadline or, if it is earlier, a time from now.
    package func end(within limit: Duration) -> UInt64 { min(deadline, MonotonicTime.now &+ limit.nanoseconds) }

    /// Returns the time left for one step of the call, more than zero, for libraries that wait themselves.
    package func timeLeft(atMost limit: Duration) throws(ServerFault) -> Duration {
        try check()
        let now = MonotonicTime.now
        guard deadline > now else { throw Self.late }
        return min(limit, .nanoseconds(Int64(clamping: deadline - now)))
    }

    /// Throws if the call is cancelled or late.
    package func check() throws(ServerFault) {
        if state.withLock({ $0.isCancelled }) { throw Self.cancelled }
        if MonotonicTime.now >= deadline { throw Self.late }
    }

    /// Waits for events of poll(2) at an open socket, or its failure, until a time of `MonotonicTime`; a cancellation shuts
    /// the socket down.
    package func wait(for descriptor: Int32, events: Int32, until time: UInt64) throws(ServerFault) {
        try interruptible(.shutdown(descriptor)) { () throws(ServerFault) in
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            while true {
                let count = unsafe poll(&entry, 1, MonotonicTime.milliseconds(until: time))
                // A server that never stops sending is late, too.
                if count > 0, MonotonicTime.now < time { return }
                if count < 0, errno != EINTR { throw ServerFault(.lost, "the connection cannot be waited for") }
                if MonotonicTime.now >= time { throw Self.late }
            }
        }
    }

    /// Calls a library that waits for an open socket itself, until a time of `MonotonicTime`.
    ///
    /// If the call is cancelled or the time is up, the socket is shut down, which ends the wait; `body` must not close it.
    package func guarding<Value>(
        _ descriptor: Int32,
        until time: UInt64,
        _ body: () throws(ServerFault) -> Value
    ) throws(ServerFault) -> Value {
        try guarding(.shutdown(descriptor), until: time, body)
    }

    /// Calls a library whose wait is ended by `interrupt`, on another thread and without blocking, at a time of
    /// `MonotonicTime` or by a cancellation.
    package func interrupting(
        at time: UInt64,
        by interrupt: @escaping @Sendable () -> Void,
        _ body: () throws(ServerFault) -> Void
    ) throws(ServerFault) {
        try guarding(.call(interrupt), until: time, body)
    }

    private func guarding<Value>(
        _ interruption: WaitWatch.Interruption,
        until time: UInt64,
        _ body: () throws(ServerFault) -> Value
    ) throws(ServerFault) -> Value {
        try check()
        guard let number = WaitWatch.shared.add(interruption, until: time) else {
            throw ServerFault(.full, "the system has no more threads")
        }
        let result = Result { () throws(ServerFault) in try interruptible(interruption, body) }
        let isLate = WaitWatch.shared.remove(number)
        if case .failure(let fault) = result, fault.code == .cancelled { throw fault }
        guard !isLate else { throw Self.late }
        return try result.get()
    }

    /// Runs `body`, and interrupts it if the call is cancelled meanwhile.
    private func interruptible<Value>(
        _ interruption: WaitWatch.Interruption,
        _ body: () throws(ServerFault) -> Value
    ) throws(ServerFault) -> Value {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.interruption = interruption }
            return state.isCancelled
        }
        guard !isCancelled else { throw Self.cancelled }
        let result = Result { () throws(ServerFault) in try body() }
        let wasCancelled = state.withLock { state in
            state.interruption = nil
            return state.isCancelled
        }
        guard !wasCancelled else { throw Self.cancelled }
        return try result.get()
    }

    /// Cancels the call, and ends the wait of its thread.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.interruption?.perform()
        }
    }

    private static let cancelled = ServerFault(.cancelled, "the login was cancelled")
    private static let late = ServerFault(.timedOut, "no answer in time")
}

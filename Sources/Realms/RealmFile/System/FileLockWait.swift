// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization

/// A wait for a flock(2) with a deadline.
///
/// Processes that wait in flock(2) get the lock in the order in which they began to wait. A process that polls instead
/// might never get the lock if other processes write all the time. flock(2) has no timeout, so a separate thread waits.
/// If that thread gets the lock after the deadline, it releases the lock.
final class FileLockWait: Sendable {
    private struct State {
        /// The error number of flock(2), 0 for success; nil until it returns.
        var result: Int32?
        var hasTimedOut = false
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Waits for the lock until a deadline.
    ///
    /// - Parameter deadline: The deadline.
    /// - Returns: 0 for success, or the error number. Nil after the deadline; the waiting thread then closes the
    ///   descriptor.
    func wait(until deadline: DispatchTime) -> Int32? {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return 0 }
        let number = errno
        guard number == EWOULDBLOCK || number == EINTR else { return number }
        DispatchQueue(label: "file realm: lock").async { [self] in waitForLock() }
        guard ended.wait(timeout: deadline) == .timedOut else { return state.withLock { $0.result } }
        return state.withLock { state in
            state.hasTimedOut = state.result == nil
            return state.result
        }
    }

    private func waitForLock() {
        var number: Int32 = 0
        while flock(descriptor, LOCK_EX) != 0 {
            number = errno
            guard number == EINTR else { break }
            number = 0
        }
        state.withLock { state in
            state.result = number
            if state.hasTimedOut { close(descriptor) }
        }
        ended.signal()
    }
}

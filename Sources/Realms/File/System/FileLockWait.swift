// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// One wait for a flock(2) that may be given up.
///
/// The system wakes those who wait in flock(2) in their turn, which asking again and again would not do: where others
/// write without a pause, somebody who asks now and then may never find the lock free. As such a wait cannot be given a
/// time, a thread of its own waits, and lets go of what it gets too late.
final class FileLockWait: Sendable {
    private struct State {
        /// What flock(2) said, 0 for yes; nil as long as it has not returned.
        var result: Int32?
        var isGivenUp = false
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Waits until the lock is had, or a moment.
    ///
    /// - Parameter deadline: The moment.
    /// - Returns: 0, or the number of what went wrong; nil if it was too late, and the descriptor is closed by and by.
    func end(by deadline: DispatchTime) -> Int32? {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return 0 }
        let number = errno
        guard number == EWOULDBLOCK || number == EINTR else { return number }
        DispatchQueue(label: "file realm: lock").async { [self] in wait() }
        guard ended.wait(timeout: deadline) == .timedOut else { return state.withLock { $0.result } }
        return state.withLock { state in
            state.isGivenUp = state.result == nil
            return state.result
        }
    }

    private func wait() {
        var number: Int32 = 0
        while flock(descriptor, LOCK_EX) != 0 {
            number = errno
            guard number == EINTR else { break }
            number = 0
        }
        state.withLock { state in
            state.result = number
            if state.isGivenUp { close(descriptor) }
        }
        ended.signal()
    }
}

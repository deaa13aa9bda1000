// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

/// A state protected by a lock, with a condition variable on which threads wait.
///
/// It blocks threads, so tasks must not wait on it.
@safe
final class Monitor<State>: @unchecked Sendable {
    // `state` is only accessed under the lock.
    private var state: State
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    init(_ state: State) {
        self.state = state
        unsafe lock = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe lock.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(lock, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(lock)
        unsafe condition.deallocate()
        unsafe lock.deallocate()
    }

    /// Reads and changes the state.
    ///
    /// `body` must be short, because other threads wait for the lock.
    func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        return body(&state)
    }

    /// Calls `body` with the state, now and whenever the thread is woken, until `body` returns a result.
    func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(condition, lock)
        }
    }

    /// Wakes one waiting thread.
    func wakeOne() { unsafe pthread_cond_signal(condition) }

    /// Wakes all waiting threads.
    func wakeAll() { unsafe pthread_cond_broadcast(condition) }
}

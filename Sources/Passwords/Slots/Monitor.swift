// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Something that threads change one after the other, and wait for.
///
/// It is for threads that may block, never for tasks.
@safe
final class Monitor<State>: @unchecked Sendable {
    // Unchecked: `state` is touched under the lock only.
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

    /// Reads and changes what it guards; held for a few instructions only.
    func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        return body(&state)
    }

    /// Reads and changes what it guards, again after every wake until `body` gives something.
    func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(condition, lock)
        }
    }

    /// Has one of those that wait look again.
    func wakeOne() { unsafe pthread_cond_signal(condition) }

    /// Has all of those that wait look again.
    func wakeAll() { unsafe pthread_cond_broadcast(condition) }
}

// SPDX-License-Identifier: Apache-2.0

internal import LibC

/// A state protected by a lock, with a condition variable on which threads wait.
///
/// It blocks threads, so tasks must not wait on it.
@safe
package final class Monitor<State>: @unchecked Sendable {
    // `state` is only accessed under the lock.
    private var state: State
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    /// Creates a monitor with its first state.
    package init(_ state: State) {
        self.state = state
        unsafe lock = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe lock.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        #if !canImport(Darwin)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        #endif
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
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
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        return body(&state)
    }

    /// Calls `body` with the state, now and whenever the thread is woken, until `body` returns a result.
    package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(condition, lock)
        }
    }

    /// Calls `body` with the state, now and whenever the thread is woken, until `body` returns a result or the time is up.
    ///
    /// The wait ends at a time of ``MonotonicTime``; then the result is nil.
    package func wait<Result>(until time: UInt64, _ body: (inout State) -> Result?) -> Result? {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        while true {
            if let result = body(&state) { return result }
            if isOver(time) { return body(&state) }
        }
    }

    /// Waits until the thread is woken; true if the time was up first.
    private func isOver(_ time: UInt64) -> Bool {
        #if canImport(Darwin)
        // A condition variable of a Mac has no monotonic clock, but takes the time that is left, which may not be years.
        let now = MonotonicTime.now
        var rest = MonotonicTime.parts(time > now ? min(time - now, 3_600_000_000_000) : 0)
        unsafe pthread_cond_timedwait_relative_np(condition, lock, &rest)
        return MonotonicTime.now >= time
        #else
        var limit = MonotonicTime.parts(time)
        return unsafe pthread_cond_timedwait(condition, lock, &limit) == ETIMEDOUT
        #endif
    }

    /// Wakes one waiting thread.
    package func wakeOne() { unsafe pthread_cond_signal(condition) }

    /// Wakes all waiting threads.
    package func wakeAll() { unsafe pthread_cond_broadcast(condition) }
}

/// Times of the system's monotonic clock, in nanoseconds.
package enum MonotonicTime {
    /// The current time.
    package static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    fileprivate static func parts(_ time: UInt64) -> timespec {
        timespec(tv_sec: Int(clamping: time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    }

    /// Returns the milliseconds that have passed since another time, such as `1.5 ms`.
    package static func text(since start: UInt64) -> String { text(now &- start) }

    /// Returns nanoseconds as milliseconds with one decimal place, rounded down, such as `1.5 ms`.
    package static func text(_ time: UInt64) -> String {
        let tenths = time / 100_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    /// Returns the number of milliseconds until a time for poll(2), rounded up; 0 if the time has passed.
    package static func milliseconds(until time: UInt64) -> Int32 {
        let now = now
        guard time > now else { return 0 }
        return Int32(clamping: (time - now) / 1_000_000 + 1)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A thread of the system that may be busy for long, which a task's thread may not.
enum Worker {
    private final class Box {
        let niceness: Int
        let work: @Sendable () -> Void

        init(_ niceness: Int, _ work: @escaping @Sendable () -> Void) {
            self.niceness = niceness
            self.work = work
        }
    }

    /// Starts a thread; false if the system has none to give.
    ///
    /// - Parameters:
    ///   - niceness: By how much it stands back behind other threads, 0 to 19.
    ///   - work: What it does; the thread ends when it returns.
    /// - Returns: Whether it was started.
    static func start(niceness: Int, _ work: @escaping @Sendable () -> Void) -> Bool {
        // Signals are for the threads that wait for them.
        let masks = UnsafeMutablePointer<sigset_t>.allocate(capacity: 2)
        unsafe sigfillset(masks)
        unsafe pthread_sigmask(SIG_SETMASK, masks, masks + 1)
        defer {
            unsafe pthread_sigmask(SIG_SETMASK, masks + 1, nil)
            unsafe masks.deallocate()
        }
        let box = unsafe Unmanaged.passRetained(Box(niceness, work))
        var thread: pthread_t = 0
        let status = unsafe pthread_create(
            &thread,
            nil,
            { raw in
                guard let raw = unsafe raw else { return nil }
                let box = unsafe Unmanaged<Box>.fromOpaque(raw).takeRetainedValue()
                // On Linux a thread has a niceness of its own. That it cannot be had costs fairness, not correctness.
                _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Int32(box.niceness))
                box.work()
                return nil
            },
            box.toOpaque()
        )
        guard status == 0 else {
            unsafe box.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}

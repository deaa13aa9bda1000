// SPDX-License-Identifier: Apache-2.0

internal import LibC

/// A thread of the operating system, for work that would block one of the threads that run tasks for too long.
package enum WorkerThread {
    private final class Box {
        let niceness: Int
        let work: @Sendable () -> Void

        init(niceness: Int, work: @escaping @Sendable () -> Void) {
            self.niceness = niceness
            self.work = work
        }
    }

    /// Starts a thread of a niceness of 0 to 19, as in nice(1), which ends when its work returns; false if the system
    /// has no more threads.
    package static func start(niceness: Int, work: @escaping @Sendable () -> Void) -> Bool {
        // The thread blocks all signals, because other threads handle them.
        let masks = UnsafeMutablePointer<sigset_t>.allocate(capacity: 2)
        unsafe sigfillset(masks)
        unsafe pthread_sigmask(SIG_SETMASK, masks, masks + 1)
        defer {
            unsafe pthread_sigmask(SIG_SETMASK, masks + 1, nil)
            unsafe masks.deallocate()
        }
        let box = unsafe Unmanaged.passRetained(Box(niceness: niceness, work: work))
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        let status = unsafe pthread_create(
            &thread,
            nil,
            { raw in
                // Optional on some systems only.
                let argument: UnsafeMutableRawPointer? = unsafe raw
                guard let raw = unsafe argument else { return nil }
                let box = unsafe Unmanaged<Box>.fromOpaque(raw).takeRetainedValue()
                WorkerThread.setNiceness(box.niceness)
                box.work()
                return nil
            },
            box.toOpaque()
        )
        guard status == 0 else {
            unsafe box.release()
            return false
        }
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread = unsafe thread { unsafe pthread_detach(thread) }
        #endif
        return true
    }

    /// Sets the niceness of this thread; a failure is ignored, because it only affects the order in which threads run.
    private static func setNiceness(_ niceness: Int) {
        #if canImport(Darwin)
        // The niceness is that of the whole process. A thread has a class.
        if niceness > 0 { pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0) }
        #elseif canImport(Glibc)
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Int32(niceness))
        #else
        _ = setpriority(PRIO_PROCESS, 0, Int32(niceness))
        #endif
    }
}

/// Runs tasks on the worker thread that resumes them, which saves waking another thread.
///
/// A task that has this executor as its preference, and is resumed within ``resumeTasks(_:)``, continues on the same
/// thread when the resuming function has returned. Elsewhere it continues on the threads that Swift shares among tasks.
/// The worker thread begins no other work before all these tasks wait again or end, so such a task must not compute for
/// long.
package final class ResumingExecutor: TaskExecutor {
    /// The jobs of the tasks that a thread has resumed.
    private final class Jobs {
        var list: [UnownedJob] = []
    }

    /// The only executor of this kind; it has no state of its own.
    package static let shared = ResumingExecutor()

    /// The key of the thread's jobs.
    private let key: pthread_key_t?

    private init() {
        var key: pthread_key_t = 0
        self.key = unsafe pthread_key_create(&key, nil) == 0 ? key : nil
    }

    /// Calls a function that resumes tasks, for example by a continuation, and holds no lock; then runs these tasks.
    package func resumeTasks(_ body: () -> Void) {
        guard let key else { return body() }
        let outer = unsafe pthread_getspecific(key)
        let jobs = Jobs()
        withExtendedLifetime(jobs) {
            unsafe pthread_setspecific(key, Unmanaged.passUnretained(jobs).toOpaque())
            body()
            while !jobs.list.isEmpty { unsafe jobs.list.removeFirst().runSynchronously(on: asUnownedTaskExecutor()) }
            unsafe pthread_setspecific(key, outer)
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard let key, let jobs = unsafe pthread_getspecific(key) else { return globalConcurrentExecutor.enqueue(job) }
        unsafe Unmanaged<Jobs>.fromOpaque(jobs).takeUnretainedValue().list.append(job)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Runs tasks on the worker thread that resumes them, which saves waking another thread.
///
/// A task that has this executor as its preference, and is resumed within ``resumeTasks(_:)``, continues on the same thread
/// when the resuming function has returned. Elsewhere it continues on the threads that Swift shares among tasks.
///
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

    /// Calls a function, then runs the tasks that it has resumed.
    ///
    /// - Parameter body: Resumes tasks, for example by a continuation; it must hold no lock.
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

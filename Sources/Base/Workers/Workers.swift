// SPDX-License-Identifier: Apache-2.0

/// Threads for calls that block, each with a resource of its own for as long as it lives, such as connections or a helper
/// process.
///
/// The caller limits the number of calls at a time (``FairSlots``), and so the number of threads. A thread ends when it has
/// been idle for the configured time, or after its call when the workers are closed. The threads retain this object, so its
/// owner closes it.
package final class Workers<Resource>: Sendable {
    /// Makes a call on a thread, and returns the function that passes its result to the caller.
    ///
    /// A caller with the preference for ``ResumingExecutor`` continues on the thread, unless that has a low priority.
    package typealias Job = @Sendable (Resource) -> () -> Void

    /// The resource of a thread, and how the thread waits for a call without one.
    package struct Worker {
        let resource: Resource
        let wait: (UInt64) -> Bool
        let wake: @Sendable () -> Void
        let close: () -> Void

        /// Creates a worker whose thread waits with functions of its own.
        ///
        /// `wait` returns true when `wake` was called; false at a time of ``MonotonicTime``, or earlier to end the thread.
        package init(
            _ resource: Resource,
            wait: @escaping (UInt64) -> Bool,
            wake: @escaping @Sendable () -> Void,
            close: @escaping () -> Void
        ) {
            (self.resource, self.wait, self.wake, self.close) = (resource, wait, wake, close)
        }

        package init(_ resource: Resource, close: @escaping () -> Void = {}) {
            let isWoken = Monitor(false)
            self.init(resource) { time in
                let isWoken = isWoken.wait(until: time) { isWoken in
                    defer { isWoken = false }
                    return isWoken ? true : nil
                }
                return isWoken ?? false
            } wake: {
                isWoken.withLock { $0 = true }
                isWoken.wakeOne()
            } close: {
                close()
            }
        }
    }

    private struct State {
        var isClosed = false
        var threads = 0
        /// The number of threads that look for a call next: they were woken or started, or pass a result.
        var ready = 0
        /// The functions that wake the threads without a call, that of the last one that became idle last.
        var idle: [(thread: UInt64, wake: @Sendable () -> Void)] = []
        var lastThread: UInt64 = 0
        /// The calls for the threads that are ready.
        var next: [Job] = []
    }

    private let niceness: Int
    private let idleTime: UInt64?
    private let makeWorker: @Sendable () -> Worker
    /// A lock that does not spin: its threads may be more than the processors.
    private let state = Monitor(State())

    /// Creates workers without threads, each of which makes its resource when it starts; `idleTime` is in nanoseconds.
    package init(niceness: Int, idleTime: UInt64?, worker: @escaping @Sendable () -> Worker) {
        self.niceness = niceness
        self.idleTime = idleTime
        makeWorker = worker
    }

    /// The number of threads, with those that start.
    package var threads: Int { state.withLock { $0.threads } }

    /// Makes a call on a thread as soon as there is a slot for it, which the call gives back, or passes a refusal.
    ///
    /// Returns the number for ``FairSlots/cancel(_:)``. Both functions must not block the thread that frees the slot.
    package func begin(
        for owner: JobOwner,
        in slots: FairSlots,
        weight: Int = 0,
        refuse: @escaping @Sendable (FairSlots.Refusal) -> Void,
        _ job: @escaping @Sendable (Resource, FairSlots.Slot) -> () -> Void
    ) -> UInt64 {
        slots.request(for: owner, weight: weight) { [self] answer in
            switch answer {
            case .success(let slot):
                if begin({ job($0, slot) }) { return }
                slots.release(slot)
                refuse(.noThread)
            case .failure(let refusal): refuse(refusal)
            }
        }
    }

    /// Passes a call to a thread; returns false if there is none, and the system has no more.
    func begin(_ job: @escaping Job) -> Bool {
        let (wake, hasBegun) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
            let wake = state.idle.popLast()?.wake
            if wake != nil {
                state.ready += 1
            } else if state.next.count >= state.ready {
                if WorkerThread.start(niceness: niceness, work: serve) {
                    state.threads += 1
                    state.ready += 1
                } else if state.threads == 0 {
                    return (nil, false)
                }
            }
            // Without a thread for it, the call waits for one that has another call.
            state.next.append(job)
            return (wake, true)
        }
        wake?()
        return hasBegun
    }

    /// Ends the threads that have no call; the others end after their calls.
    package func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            state.ready += state.idle.count
            defer { state.idle = [] }
            return state.idle
        }
        for thread in idle { thread.wake() }
    }

    private func serve() {
        let number = state.withLock { state in
            state.lastThread += 1
            return state.lastThread
        }
        let worker = makeWorker()
        defer { worker.close() }
        while let job = next(worker, thread: number) {
            let deliver = job(worker.resource)
            state.withLock { $0.ready += 1 }
            if niceness > 0 { deliver() } else { ResumingExecutor.shared.resumeTasks(deliver) }
        }
    }

    /// Waits for the next call of a thread that is ready; nil if the thread has to end.
    private func next(_ worker: Worker, thread: UInt64) -> Job? {
        while true {
            let (job, mustEnd) = state.withLock { state -> (Job?, Bool) in
                state.ready -= 1
                if !state.next.isEmpty { return (state.next.removeFirst(), false) }
                if state.isClosed {
                    state.threads -= 1
                } else {
                    state.idle.append((thread, worker.wake))
                }
                return (nil, state.isClosed)
            }
            if job != nil || mustEnd { return job }
            let until = idleTime.map { MonotonicTime.now &+ $0 } ?? .max
            while worker.wait(until), state.withLock({ $0.idle.contains { $0.thread == thread } }) {}
            let hasEnded = state.withLock { state in
                // A call may have come at the same moment.
                guard let place = state.idle.firstIndex(where: { $0.thread == thread }) else { return false }
                state.idle.remove(at: place)
                state.threads -= 1
                return true
            }
            if hasEnded { return nil }
        }
    }
}

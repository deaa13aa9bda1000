// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import RealmKit
internal import Slots
internal import Synchronization
internal import WorkerThreads

/// The queue and the threads behind ``HelperPool``.
///
/// The threads retain this object but not the pool, so that the pool can be released.
final class HelperScheduler: Sendable {
    /// The end of a request: its fault, and the function that passes the result to the caller.
    struct Completion {
        let fault: HelperFault?
        let deliver: () -> Void
    }

    /// A request.
    struct Job: Sendable {
        let call: HelperCall
        let owner: JobOwner
        let work: @Sendable (HelperSlot) -> Completion
        let reject: @Sendable (HelperFault) -> Void

        init(
            call: HelperCall,
            owner: JobOwner,
            work: @escaping @Sendable (HelperSlot) -> Completion,
            reject: @escaping @Sendable (HelperFault) -> Void
        ) {
            (self.call, self.owner, self.work, self.reject) = (call, owner, work, reject)
        }
    }

    private struct State {
        var isClosed = false
        var threads = 0
        /// The threads without work, the last one that became idle last.
        var idle: [WakeUp] = []
        /// The number of threads that were woken or started for a request and have not taken it yet.
        var waking = 0
        var lastNumber: UInt64 = 0
        var waiting: [UInt64: Job] = [:]
        var running: [UInt64: HelperCall] = [:]
        var queue: LimitedQueue
    }

    private enum Step {
        case run(UInt64, Job)
        case wait
        case end
    }

    private let settings: HelperPoolSettings
    private let log: RealmLog?
    private let state: Mutex<State>

    init(_ settings: HelperPoolSettings, log: RealmLog?) {
        self.settings = settings
        self.log = log
        state = Mutex(State(queue: Self.queue(settings)))
    }

    private static func queue(_ settings: HelperPoolSettings) -> LimitedQueue {
        LimitedQueue(slots: settings.processes, unlimitedSource: ClientNetwork.source(nil))
    }

    /// Ends the threads and their helpers when the queue is empty.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            state.waking += state.idle.count
            defer { state.idle = [] }
            return state.idle
        }
        idle.forEach { $0.signal() }
    }

    /// The number of waiting requests.
    var waiting: Int { state.withLock { $0.queue.count } }

    // MARK: Requests

    /// Queues a request, or rejects it.
    ///
    /// - Parameter job: The request.
    /// - Returns: The number for ``cancel(_:)``.
    func submit(_ job: Job) -> UInt64 {
        rejectLate()
        let (number, wakes, rejected) = state.withLock { state -> (UInt64, [WakeUp], (Job, HelperFault)?) in
            state.lastNumber += 1
            let number = state.lastNumber
            var rejected: (Job, HelperFault)?
            let free = state.idle.count + state.waking + settings.processes - state.threads
            if state.queue.isFull(for: job.owner, limit: settings.queue, free: free) {
                let isOldest = settings.whenFull == .cancelOldest
                let fault = HelperFault(.full, "too many requests wait for a helper process")
                guard let victim = state.queue.jobToReject(for: job.owner, cancelsOldest: isOldest),
                    let removed = remove(victim, from: &state)
                else { return (number, [], (job, fault)) }
                rejected = (removed, fault)
            }
            state.waiting[number] = job
            state.queue.append(number, of: job.owner)
            let wakes = wakeThreads(&state)
            if state.threads == 0, remove(number, from: &state) != nil {
                rejected = (job, HelperFault(.cannotStart, "no thread for a helper could be started"))
            }
            return (number, wakes, rejected)
        }
        wakes.forEach { $0.signal() }
        if let (job, fault) = rejected { job.reject(fault) }
        return number
    }

    /// Cancels a request; does nothing if it has ended.
    func cancel(_ number: UInt64) {
        let (job, call, wakes) = state.withLock { state in
            let removed = remove(number, from: &state)
            return (removed, state.running[number], wakeThreads(&state))
        }
        wakes.forEach { $0.signal() }
        job?.reject(HelperFault(.cancelled, "the login was cancelled"))
        call?.cancel()
    }

    /// Rejects the requests that have waited for too long.
    ///
    /// All requests have the same time, so the oldest one is the first that is late.
    func rejectLate() {
        let now = MonotonicTime.now
        let (late, wakes) = state.withLock { state -> ([Job], [WakeUp]) in
            var late: [Job] = []
            while let number = state.queue.oldest, (state.waiting[number]?.call.deadline ?? now) <= now,
                let job = remove(number, from: &state)
            {
                late.append(job)
            }
            return (late, late.isEmpty ? [] : wakeThreads(&state))
        }
        wakes.forEach { $0.signal() }
        for job in late { job.reject(HelperFault(.timedOut, "no helper process was free in time")) }
    }

    private func remove(_ number: UInt64, from state: inout State) -> Job? {
        guard let job = state.waiting.removeValue(forKey: number) else { return nil }
        state.queue.remove(number)
        return job
    }

    // MARK: Threads

    /// Takes idle threads, or starts threads, for the requests that may run; the caller signals them.
    ///
    /// The end of one request can let several ones run: one of the same source, and one of the same user.
    ///
    /// - Parameter state: The state.
    /// - Returns: The idle threads.
    private func wakeThreads(_ state: inout State) -> [WakeUp] {
        var wakes: [WakeUp] = []
        while state.queue.runnable > state.waking {
            if let idle = state.idle.popLast() {
                state.waking += 1
                wakes.append(idle)
            } else if state.threads >= settings.processes || !startThread(&state) {
                break
            }
        }
        return wakes
    }

    private func startThread(_ state: inout State) -> Bool {
        // The thread is counted before it starts, so that the limit is never exceeded.
        state.threads += 1
        state.waking += 1
        if WorkerThread.start(niceness: 0, work: serve) { return true }
        state.threads -= 1
        state.waking -= 1
        return false
    }

    /// The life of a thread.
    private func serve() {
        let wake: WakeUp
        do throws(HelperFault) {
            wake = try WakeUp()
        } catch {
            endWithoutDescriptor(error)
            return
        }
        let slot = HelperSlot(log: log)
        var isWoken = true
        var ended: (UInt64, Job)?
        while true {
            switch next(wake, isWoken: isWoken, ended: ended) {
            case .run(let number, let job):
                isWoken = false
                ended = (number, job)
                let time = run(job, in: slot, wake: wake)
                guard time > 0 else { continue }
                // Only this thread waits, others take the requests meanwhile.
                ended = nil
                end(number, job)
                pause(for: time, wake: wake)
            case .wait:
                ended = nil
                let hasWork = idle(slot, wake: wake)
                isWoken = !leaveIdle(wake)
                if hasWork || isWoken { continue }
                slot.process?.endGracefully(wake: wake)
                slot.end()
                if endThread() { return }
            case .end:
                slot.process?.endGracefully(wake: wake)
                slot.end()
                return
            }
        }
    }

    /// Returns what a thread does next, after it was woken for a request or has run one.
    private func next(_ wake: WakeUp, isWoken: Bool, ended: (UInt64, Job)?) -> Step {
        rejectLate()
        let (step, wakes) = state.withLock { state -> (Step, [WakeUp]) in
            if isWoken { state.waking -= 1 }
            if let (number, job) = ended { end(number, job, in: &state) }
            if let number = state.queue.takeNext(), let job = state.waiting.removeValue(forKey: number) {
                state.running[number] = job.call
                return (.run(number, job), wakeThreads(&state))
            }
            guard !state.isClosed else {
                state.threads -= 1
                return (.end, [])
            }
            state.idle.append(wake)
            return (.wait, [])
        }
        wakes.forEach { $0.signal() }
        return step
    }

    private func end(_ number: UInt64, _ job: Job, in state: inout State) {
        state.running[number] = nil
        state.queue.end(of: job.owner)
    }

    private func end(_ number: UInt64, _ job: Job) {
        let wakes = state.withLock { state in
            end(number, job, in: &state)
            return wakeThreads(&state)
        }
        wakes.forEach { $0.signal() }
    }

    /// Runs a request; the caller has its result before a killed helper is gone.
    ///
    /// - Returns: The time for which the thread must wait before it takes another request, in nanoseconds.
    private func run(_ job: Job, in slot: HelperSlot, wake: WakeUp) -> UInt64 {
        job.call.wake = wake
        let completion = job.work(slot)
        job.call.wake = nil
        guard let fault = completion.fault else {
            ResumingExecutor.shared.resumeTasks(completion.deliver)
            slot.countAnswer(limit: settings.requestsPerProcess, wake: wake)
            return 0
        }
        slot.process?.kill()
        completion.deliver()
        slot.end()
        guard fault.code != .cancelled, settings.requestsPerProcess > 1 else { return 0 }
        slot.countFault()
        return Self.backOff(slot.faults)
    }

    /// Returns the time before a process is replaced, in nanoseconds: none after the first fault, then 5, 10, 20 and at
    /// most 40 milliseconds.
    static func backOff(_ faults: Int) -> UInt64 { faults < 2 ? 0 : 5_000_000 << UInt64(min(faults - 2, 3)) }

    private func pause(for time: UInt64, wake: WakeUp) {
        let until = MonotonicTime.now &+ time
        while MonotonicTime.now < until { wake.wait(until: until) }
    }

    /// Waits for work; returns false if the slot has had none for too long.
    private func idle(_ slot: HelperSlot, wake: WakeUp) -> Bool {
        let until = MonotonicTime.now &+ settings.idleTime.nanoseconds
        if let process = slot.process {
            do throws(HelperFault) {
                switch try process.waitIdle(wake: wake, until: until) {
                case .woken: return true
                case .ended: log?("\(process.name) has ended between two requests")
                case .ready: log?("\(process.name) has sent something without a request, or closed its channel")
                case nil: return false
                }
            } catch {
                log?(error.description)
            }
            slot.end()
            return !state.withLock { $0.idle.contains { $0 === wake } } || idle(slot, wake: wake)
        }
        return wake.wait(until: until)
    }

    /// Returns whether the thread was still idle; if not, it was woken for a request.
    private func leaveIdle(_ wake: WakeUp) -> Bool {
        state.withLock { state in
            guard let place = state.idle.firstIndex(where: { $0 === wake }) else { return false }
            state.idle.remove(at: place)
            return true
        }
    }

    /// Ends a thread that is not idle; returns false if requests wait.
    private func endThread() -> Bool {
        state.withLock { state in
            guard state.queue.count == 0 else { return false }
            state.threads -= 1
            return true
        }
    }

    private func endWithoutDescriptor(_ fault: HelperFault) {
        let jobs = state.withLock { state -> [Job] in
            state.threads -= 1
            state.waking -= 1
            guard state.threads == 0 else { return [] }
            defer {
                state.waiting = [:]
                state.queue = Self.queue(settings)
            }
            return Array(state.waiting.values)
        }
        for job in jobs { job.reject(fault) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit
internal import Synchronization
internal import Workers

/// The queue and the threads behind ``HelperPool``.
///
/// The threads retain this object but not the pool, so that the pool can be released.
final class HelperScheduler: Sendable {
    /// The end of a request: its fault, and the function that passes the result to the caller.
    struct Completion {
        let fault: HelperFault?
        let deliver: () -> Void
    }

    struct Job: Sendable {
        let call: HelperCall
        let owner: JobOwner
        let work: @Sendable (HelperSlot) -> Completion
        let reject: @Sendable (HelperFault) -> Void
    }

    private struct State {
        var isClosed = false
        var threads = 0
        /// The threads without work, the last one that became idle last.
        var idle: [WakeUp] = []
        /// The number of threads that were woken or started for a request, or pass a result before they take one, and have
        /// not taken it yet.
        var waking = 0
        /// The number of threads whose request has ended, and which take another one if no other thread does.
        var finishing = 0
        /// The idle threads that are signalled after the lock.
        var woken: [WakeUp] = []
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

    /// The way in which a thread comes to its next request.
    private enum Arrival {
        /// It counts as waking.
        case woken
        /// It counts as finishing.
        case finishing
        /// It has run a request whose end is not counted yet.
        case ended(UInt64, Job)
        /// It counts as none of these.
        case free
    }

    /// The time of the last answer of a helper, of `MonotonicTime`.
    let answered = Atomic<UInt64>(0)
    private let settings: HelperPoolSettings
    private let log: RealmLog?
    /// Creates the wake-up of a thread, on that thread.
    private let makeWakeUp: @Sendable () throws(HelperFault) -> WakeUp
    private let state: Mutex<State>

    init(
        _ settings: HelperPoolSettings,
        log: RealmLog?,
        makeWakeUp: @escaping @Sendable () throws(HelperFault) -> WakeUp
    ) {
        self.settings = settings
        self.log = log
        self.makeWakeUp = makeWakeUp
        state = Mutex(State(queue: Self.queue(settings)))
    }

    private static func queue(_ settings: HelperPoolSettings) -> LimitedQueue {
        LimitedQueue(slots: settings.processes, unlimitedSource: ClientNetwork.source(nil))
    }

    /// Ends the threads and their helpers when the queue is empty.
    func close() {
        change { state in
            state.isClosed = true
            state.waking += state.idle.count
            state.woken += state.idle
            state.idle = []
        }
    }

    var waiting: Int { state.withLock { $0.queue.count } }

    /// The number of threads, with those that start.
    var threads: Int { state.withLock { $0.threads } }
    var idleThreads: Int { state.withLock { $0.idle.count } }

    // MARK: Requests

    /// Queues a request, or rejects it, and returns the number for ``cancel(_:)``.
    func submit(_ job: Job) -> UInt64 {
        rejectLate()
        let (number, rejected) = change { state -> (UInt64, (Job, HelperFault)?) in
            state.lastNumber += 1
            let number = state.lastNumber
            guard state.threads > 0 || startThread(&state) else {
                return (number, (job, HelperFault(.full, "no thread for a helper could be started")))
            }
            var rejected: (Job, HelperFault)?
            let free = state.idle.count + state.waking + state.finishing + settings.processes - state.threads
            if state.queue.isFull(for: job.owner, limit: settings.queue, free: free) {
                let isOldest = settings.whenFull == .cancelOldest
                let fault = HelperFault(.full, "too many requests wait for a helper process")
                guard let rejectedNumber = state.queue.jobToReject(for: job.owner, cancelsOldest: isOldest),
                    let removed = remove(rejectedNumber, from: &state)
                else { return (number, (job, fault)) }
                rejected = (removed, fault)
            }
            state.waiting[number] = job
            state.queue.append(number, of: job.owner)
            wakeThreads(&state)
            return (number, rejected)
        }
        if let (job, fault) = rejected { job.reject(fault) }
        return number
    }

    /// Cancels a request; does nothing if it has ended.
    func cancel(_ number: UInt64) {
        let (job, call) = change { state in
            let removed = remove(number, from: &state)
            wakeThreads(&state)
            return (removed, state.running[number])
        }
        job?.reject(HelperFault(.cancelled, "the login was cancelled"))
        call?.cancel()
    }

    /// Rejects the requests that have waited for too long: all have the same time, so the oldest is the first that is
    /// late.
    func rejectLate() {
        let now = MonotonicTime.now
        let late = change { state -> [Job] in
            var late: [Job] = []
            while let number = state.queue.oldest, (state.waiting[number]?.call.deadline ?? now) <= now,
                let job = remove(number, from: &state)
            {
                late.append(job)
            }
            if !late.isEmpty { wakeThreads(&state) }
            return late
        }
        for job in late { job.reject(HelperCall.waitedTooLong) }
    }

    private func remove(_ number: UInt64, from state: inout State) -> Job? {
        guard let job = state.waiting.removeValue(forKey: number) else { return nil }
        state.queue.remove(number)
        return job
    }

    // MARK: Threads

    /// Changes the state, and then signals the threads that were taken from the idle ones.
    private func change<Value>(_ body: (inout State) -> Value) -> Value {
        let (value, woken) = state.withLock { state in
            let value = body(&state)
            defer { state.woken = [] }
            return (value, state.woken)
        }
        for wake in woken { wake.signal() }
        return value
    }

    /// Takes idle threads, or starts threads, for the requests that may run.
    ///
    /// The end of one request can let several ones run: one of the same source, and one of the same user.
    private func wakeThreads(_ state: inout State, canStart: Bool = true) {
        while state.queue.runnable > state.waking {
            if let idle = state.idle.popLast() {
                state.waking += 1
                state.woken.append(idle)
            } else if !canStart || state.threads >= settings.processes || !startThread(&state) {
                break
            }
        }
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

    private func serve() {
        let wake: WakeUp
        do throws(HelperFault) {
            wake = try makeWakeUp()
        } catch {
            endWithoutDescriptor(error)
            return
        }
        let slot = HelperSlot(log: log)
        var arrival = Arrival.woken
        while true {
            switch next(wake, after: arrival) {
            case .run(let number, let job): arrival = run(job, number: number, in: slot, wake: wake)
            case .wait:
                let hasWork = idle(slot, wake: wake)
                arrival = leaveIdle(wake) ? .free : .woken
                guard case .free = arrival, !hasWork else { continue }
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

    private func next(_ wake: WakeUp, after arrival: Arrival) -> Step {
        rejectLate()
        return change { state -> Step in
            switch arrival {
            case .woken: state.waking -= 1
            case .finishing: state.finishing -= 1
            case .ended(let number, let job): end(job, number: number, in: &state)
            case .free: break
            }
            if let number = state.queue.takeNext(), let job = state.waiting.removeValue(forKey: number) {
                state.running[number] = job.call
                wakeThreads(&state)
                return .run(number, job)
            }
            guard !state.isClosed else {
                state.threads -= 1
                return .end
            }
            state.idle.append(wake)
            return .wait
        }
    }

    private func end(_ job: Job, number: UInt64, in state: inout State) {
        state.running[number] = nil
        state.queue.end(of: job.owner)
    }

    /// Runs a request, and passes its result to the caller before the thread is free.
    ///
    /// The end of a request with a result counts before the caller has the result, so that the next login of the same client
    /// finds its place free. A helper with a fault is killed, and its request counts until it is gone.
    private func run(_ job: Job, number: UInt64, in slot: HelperSlot, wake: WakeUp) -> Arrival {
        job.call.wake = wake
        let completion = job.work(slot)
        job.call.wake = nil
        guard let fault = completion.fault else {
            let isHelperLast = slot.answered + 1 >= settings.requestsPerProcess
            let arrival = endWithResult(job, number: number, isHelperLast: isHelperLast)
            ResumingExecutor.shared.resumeTasks(completion.deliver)
            slot.countAnswer(limit: settings.requestsPerProcess, wake: wake)
            return arrival
        }
        slot.process?.kill()
        completion.deliver()
        slot.end()
        guard fault.code != .cancelled, settings.requestsPerProcess > 1 else { return .ended(number, job) }
        slot.faults += 1
        let time = Self.backOff(slot.faults)
        guard time > 0 else { return .ended(number, job) }
        // Only this thread waits, others take the requests meanwhile.
        change { state in
            end(job, number: number, in: &state)
            wakeThreads(&state)
        }
        pause(for: time, wake: wake)
        return .free
    }

    /// Counts the end of a request whose result is not yet passed to the caller.
    ///
    /// A request that already waits is left to this thread, unless its helper must end first.
    private func endWithResult(_ job: Job, number: UInt64, isHelperLast: Bool) -> Arrival {
        change { state in
            end(job, number: number, in: &state)
            let takesNext = !isHelperLast && state.queue.runnable > state.waking
            if takesNext { state.waking += 1 } else { state.finishing += 1 }
            wakeThreads(&state)
            return takesNext ? .woken : .finishing
        }
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

    /// Ends a thread that could not get its wake-up.
    ///
    /// The request for which it was started is left to another thread. No thread is started, because that one would most
    /// likely end in the same way.
    private func endWithoutDescriptor(_ fault: HelperFault) {
        rejectLate()
        let jobs = change { state -> [Job] in
            state.threads -= 1
            state.waking -= 1
            guard state.threads == 0 else {
                wakeThreads(&state, canStart: false)
                return []
            }
            defer {
                state.waiting = [:]
                state.queue = Self.queue(settings)
            }
            return Array(state.waiting.values)
        }
        for job in jobs { job.reject(fault) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
internal import Workers

/// The queue and the threads behind ``HashingPool``.
///
/// The threads retain this object but not the pool, which can be released meanwhile, and then calls ``close()``.
final class HashingScheduler: Sendable {
    typealias Answer = Result<TimedHashingResult, HashingRefusal>
    typealias Completions = [(ticket: Ticket, answer: Answer)]

    /// A request that waits for the result of a job; it is only accessed under the monitor's lock.
    final class Ticket: @unchecked Sendable {
        fileprivate var continuation: CheckedContinuation<Answer, Never>?
        fileprivate var isCancelled = false
        fileprivate var job: UInt64?
        fileprivate var requestedAt: UInt64 = 0
    }

    struct HashingRequest: Sendable {
        let memory: Int
        let source: String
        let key: Digest?
        let work: @Sendable () -> HashingResult
    }

    /// A waiting or running computation, with the tickets of all requests that share it.
    private struct Job: Sendable {
        let request: HashingRequest
        let requestedAt: UInt64
        var tickets: [Ticket]
    }

    private struct State {
        var statistics = HashingStatistics()
        var threads = 0
        var idle = 0
        var isClosed = false
        var lastJob: UInt64 = 0
        /// All waiting and running jobs.
        var jobs: [UInt64: Job] = [:]
        /// The jobs by key: a later request with the same key joins the job.
        var jobsByKey: [Digest: UInt64] = [:]
        var queue = FairQueue()
    }

    let settings: HashingSettings
    let now: @Sendable () -> UInt64
    private let wait: UInt64
    private let monitor = Monitor(State())

    init(_ settings: HashingSettings, now: @escaping @Sendable () -> UInt64) {
        self.settings = settings
        self.now = now
        let (seconds, attoseconds) = settings.wait.components
        wait = UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
    }

    var statistics: HashingStatistics {
        monitor.withLock { state in
            state.statistics.waiting = state.queue.count
            return state.statistics
        }
    }

    func countComputation() { monitor.withLock { $0.statistics.computed += 1 } }

    /// Ends the threads when the queue is empty.
    func close() {
        monitor.withLock { $0.isClosed = true }
        monitor.wakeAll()
    }

    // MARK: Requests

    func submit(_ ticket: Ticket, continuation: CheckedContinuation<Answer, Never>, request: HashingRequest) {
        let time = now()
        let completions = monitor.withLock { state -> Completions in
            ticket.continuation = continuation
            ticket.requestedAt = time
            guard !ticket.isCancelled else {
                state.statistics.cancelled += 1
                return [(ticket, .failure(.cancelled))]
            }
            if let key = request.key, let number = state.jobsByKey[key] {
                ticket.job = number
                state.jobs[number]?.tickets.append(ticket)
                state.statistics.coalesced += 1
                return []
            }
            var completions = dropExpired(&state, at: time)
            guard ensureThread(&state) else { return completions + [(ticket, .failure(.noThread))] }
            if state.queue.count >= settings.queue {
                let cancelsOldest = settings.whenFull == .cancelOldest
                guard let jobToReject = state.queue.jobToReject(for: request.source, cancelsOldest: cancelsOldest)
                else {
                    state.statistics.refused += 1
                    return completions + [(ticket, .failure(.full))]
                }
                let dropped = drop(&state, number: jobToReject)
                state.statistics.refused += dropped.count
                completions += dropped.map { ($0, .failure(.full)) }
            }
            state.lastJob += 1
            ticket.job = state.lastJob
            state.jobs[state.lastJob] = Job(request: request, requestedAt: time, tickets: [ticket])
            if let key = request.key { state.jobsByKey[key] = state.lastJob }
            state.queue.append(state.lastJob, of: request.source)
            return completions
        }
        monitor.wakeOne()
        complete(completions)
    }

    func cancel(_ ticket: Ticket) {
        let isWaiting = monitor.withLock { state -> Bool in
            ticket.isCancelled = true
            guard let number = ticket.job, state.jobs[number] != nil else { return false }
            ticket.job = nil
            state.jobs[number]?.tickets.removeAll { $0 === ticket }
            state.statistics.cancelled += 1
            // A running job is not stopped, because a hash computation cannot be interrupted.
            if state.jobs[number]?.tickets.isEmpty == true { _ = drop(&state, number: number) }
            return true
        }
        if isWaiting { complete([(ticket, .failure(.cancelled))]) }
    }

    private func complete(_ completions: Completions) {
        for (ticket, answer) in completions {
            let continuation = monitor.withLock { _ in
                defer { ticket.continuation = nil }
                return ticket.continuation
            }
            continuation?.resume(returning: answer)
        }
    }

    /// Rejects the jobs that have waited too long; the first job of each source has waited longest.
    private func dropExpired(_ state: inout State, at time: UInt64) -> Completions {
        guard state.queue.count > 0 else { return [] }
        var completions: Completions = []
        var expired: [UInt64]
        repeat {
            expired = state.queue.firstJobs.filter { (state.jobs[$0]?.requestedAt ?? time) &+ wait <= time }
            for number in expired { completions += drop(&state, number: number).map { ($0, .failure(.timedOut)) } }
        } while !expired.isEmpty
        state.statistics.timedOut += completions.count
        return completions
    }

    /// Removes a waiting job; does nothing for a running job.
    private func drop(_ state: inout State, number: UInt64) -> [Ticket] {
        guard let job = state.jobs[number], state.queue.remove(number, of: job.request.source) else { return [] }
        removeJob(&state, number: number, job: job)
        return job.tickets
    }

    private func removeJob(_ state: inout State, number: UInt64, job: Job) {
        state.jobs[number] = nil
        if let key = job.request.key, state.jobsByKey[key] == number { state.jobsByKey[key] = nil }
        for ticket in job.tickets { ticket.job = nil }
    }

    // MARK: Threads

    /// Returns whether a thread will take the job; starts another one if all are busy and the limit allows it.
    private func ensureThread(_ state: inout State) -> Bool {
        guard state.idle == 0 || state.queue.count >= state.idle, state.threads < settings.workers else {
            return state.threads > 0
        }
        // The thread is counted before it starts, so that the limit is never exceeded.
        state.threads += 1
        if WorkerThread.start(niceness: settings.niceness, work: work) { return true }
        state.threads -= 1
        return state.threads > 0
    }

    private func work() {
        while let task = take() {
            let begin = now()
            let result = task.request.work()
            finish(task, result: result, begin: begin, end: now())
        }
    }

    /// Waits for the next job; nil if the thread has to end.
    private func take() -> Assignment? {
        while true {
            var isIdle = false
            let step = monitor.wait { state -> Step? in
                if isIdle { state.idle -= 1 }
                isIdle = false
                let completions = dropExpired(&state, at: now())
                guard completions.isEmpty else { return .complete(completions) }
                if let next = state.queue.next, let job = state.jobs[next], fits(job, in: state) {
                    _ = state.queue.takeNext()
                    state.statistics.running += 1
                    state.statistics.memory += job.request.memory
                    return .compute((next, job.request))
                }
                if state.isClosed, state.queue.count == 0 {
                    state.threads -= 1
                    return .end
                }
                state.idle += 1
                isIdle = true
                return nil
            }
            switch step {
            case .complete(let completions): complete(completions)
            case .compute(let task): return task
            case .end: return nil
            }
        }
    }

    private typealias Assignment = (number: UInt64, request: HashingRequest)

    private enum Step {
        case complete(Completions)
        case compute(Assignment)
        case end
    }

    /// Returns whether the memory limit allows a job now; otherwise it waits until a running job ends.
    private func fits(_ job: Job, in state: State) -> Bool {
        state.statistics.memory + job.request.memory <= settings.memory
    }

    private func finish(_ task: Assignment, result: HashingResult, begin: UInt64, end: UInt64) {
        let (tickets, wakesOthers) = monitor.withLock { state -> ([Ticket], Bool) in
            state.statistics.running -= 1
            state.statistics.memory -= task.request.memory
            state.statistics.computed += 1
            // There may now be memory for a waiting job.
            let wakesOthers = state.queue.count > 0 || state.isClosed
            guard let job = state.jobs[task.number] else { return ([], wakesOthers) }
            removeJob(&state, number: task.number, job: job)
            return (job.tickets, wakesOthers)
        }
        if wakesOthers { monitor.wakeAll() }
        // The logins continue on other threads: this one may have a low priority.
        complete(
            tickets.map { ticket in
                let waitTime = begin > ticket.requestedAt ? begin - ticket.requestedAt : 0
                return (ticket, .success(TimedHashingResult(result: result, waitTime: waitTime, runTime: end &- begin)))
            }
        )
    }
}

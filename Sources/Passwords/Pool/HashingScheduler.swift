// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit

/// The queue and the threads behind ``HashingPool``.
///
/// The threads retain this object and not the pool, so that they end when the pool is released.
final class HashingScheduler: Sendable {
    typealias Answer = Result<Hashed, HashingRefusal>
    /// Requests that are complete, with their results.
    typealias Completions = [(ticket: Ticket, answer: Answer)]

    /// One request for a computation.
    ///
    /// It is changed under the monitor's lock only.
    final class Ticket: @unchecked Sendable {
        fileprivate var continuation: CheckedContinuation<Answer, Never>?
        fileprivate var isCancelled = false
        fileprivate var job: UInt64?
        fileprivate var since: UInt64 = 0
    }

    /// The work of a request, with its cost and its source.
    struct HashingRequest: Sendable {
        let memory: Int
        let source: String
        let key: Digest?
        let work: @Sendable () -> HashingResult
    }

    /// Work that waits or runs, with the tickets of all requests that share it.
    private struct Job: Sendable {
        let request: HashingRequest
        let since: UInt64
        var tickets: [Ticket]
    }

    private struct State {
        var numbers = HashingStatistics()
        var threads = 0
        var idle = 0
        var isClosed = false
        var lastJob: UInt64 = 0
        /// All waiting and running jobs.
        var jobs: [UInt64: Job] = [:]
        /// Jobs that an identical request may share.
        var byKey: [Digest: UInt64] = [:]
        var queue = FairQueue()
    }

    let settings: HashingSettings
    private let now: @Sendable () -> UInt64
    private let wait: UInt64
    private let monitor = Monitor(State())

    init(_ settings: HashingSettings, now: @escaping @Sendable () -> UInt64) {
        self.settings = settings
        self.now = now
        let (seconds, attoseconds) = settings.wait.components
        wait = UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
    }

    var numbers: HashingStatistics {
        monitor.withLock { state in
            state.numbers.waiting = state.queue.count
            return state.numbers
        }
    }

    /// Ends the threads as soon as no job waits.
    func close() {
        monitor.withLock { $0.isClosed = true }
        monitor.wakeAll()
    }

    // MARK: Coming and going

    /// Joins an identical job, queues a new one, or rejects the request.
    func enter(_ ticket: Ticket, continuation: CheckedContinuation<Answer, Never>, request: HashingRequest) {
        let time = now()
        let completions = monitor.withLock { state -> Completions in
            ticket.continuation = continuation
            ticket.since = time
            guard !ticket.isCancelled else {
                state.numbers.cancelled += 1
                return [(ticket, .failure(.cancelled))]
            }
            if let key = request.key, let number = state.byKey[key] {
                ticket.job = number
                state.jobs[number]?.tickets.append(ticket)
                state.numbers.coalesced += 1
                return []
            }
            var completions = dropExpired(&state, at: time)
            guard hasThread(&state) else { return completions + [(ticket, .failure(.noThread))] }
            if state.queue.count >= settings.queue {
                guard let victim = victim(state.queue, for: request.source) else {
                    state.numbers.refused += 1
                    return completions + [(ticket, .failure(.full))]
                }
                let dropped = drop(&state, number: victim)
                state.numbers.refused += dropped.count
                completions += dropped.map { ($0, .failure(.full)) }
            }
            state.lastJob += 1
            ticket.job = state.lastJob
            state.jobs[state.lastJob] = Job(request: request, since: time, tickets: [ticket])
            if let key = request.key { state.byKey[key] = state.lastJob }
            state.queue.append(state.lastJob, of: request.source)
            return completions
        }
        monitor.wakeOne()
        complete(completions)
    }

    /// Cancels a request.
    func cancel(_ ticket: Ticket) {
        let isWaiting = monitor.withLock { state -> Bool in
            ticket.isCancelled = true
            guard let number = ticket.job, state.jobs[number] != nil else { return false }
            ticket.job = nil
            state.jobs[number]?.tickets.removeAll { $0 === ticket }
            state.numbers.cancelled += 1
            // A running job is computed to its end: a hash cannot be interrupted.
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

    /// Returns the job that is rejected when the queue is full; nil for the new request itself.
    private func victim(_ queue: FairQueue, for source: String) -> UInt64? {
        guard let longest = queue.longest else { return nil }
        switch settings.whenFull {
        case .cancelOldest: return queue.oldest(of: longest.source)
        case .refuse: return longest.count > queue.count(of: source) + 1 ? queue.newest(of: longest.source) : nil
        }
    }

    /// Rejects jobs that have waited too long; the first job of a line has waited longest.
    private func dropExpired(_ state: inout State, at time: UInt64) -> Completions {
        guard state.queue.count > 0 else { return [] }
        var completions: Completions = []
        var expired: [UInt64]
        repeat {
            expired = state.queue.heads.filter { (state.jobs[$0]?.since ?? time) &+ wait <= time }
            for number in expired { completions += drop(&state, number: number).map { ($0, .failure(.timedOut)) } }
        } while !expired.isEmpty
        state.numbers.timedOut += completions.count
        return completions
    }

    /// Removes a waiting job; a running job stays.
    private func drop(_ state: inout State, number: UInt64) -> [Ticket] {
        guard let job = state.jobs[number], state.queue.remove(number, of: job.request.source) else { return [] }
        removeJob(&state, number: number, job: job)
        return job.tickets
    }

    private func removeJob(_ state: inout State, number: UInt64, job: Job) {
        state.jobs[number] = nil
        if let key = job.request.key, state.byKey[key] == number { state.byKey[key] = nil }
        for ticket in job.tickets { ticket.job = nil }
    }

    // MARK: Threads

    /// Returns whether a thread will take the job; starts another thread if none is idle and the limit allows it.
    private func hasThread(_ state: inout State) -> Bool {
        guard state.idle == 0 || state.queue.count >= state.idle, state.threads < settings.workers else {
            return state.threads > 0
        }
        // It is counted before it starts, so that the limit is never exceeded.
        state.threads += 1
        if Worker.start(niceness: settings.niceness, work: work) { return true }
        state.threads -= 1
        return state.threads > 0
    }

    /// The loop of a worker thread.
    private func work() {
        while let task = take() {
            let begin = now()
            let result = task.request.work()
            finish(task, result: result, begin: begin, end: now())
        }
    }

    /// Waits for the next job; nil when the thread is to end.
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
                    state.numbers.running += 1
                    state.numbers.memory += job.request.memory
                    return .compute(Assignment(number: next, request: job.request))
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

    private struct Assignment {
        let number: UInt64
        let request: HashingRequest
    }

    private enum Step {
        case complete(Completions)
        case compute(Assignment)
        case end
    }

    /// Returns whether there is memory for a job besides the running ones; if not, it waits until one of them ends.
    private func fits(_ job: Job, in state: State) -> Bool {
        state.numbers.memory + job.request.memory <= settings.memory
    }

    private func finish(_ task: Assignment, result: HashingResult, begin: UInt64, end: UInt64) {
        let tickets = monitor.withLock { state -> [Ticket] in
            state.numbers.running -= 1
            state.numbers.memory -= task.request.memory
            state.numbers.computed += 1
            guard let job = state.jobs[task.number] else { return [] }
            removeJob(&state, number: task.number, job: job)
            return job.tickets
        }
        // A job that waits for memory may fit now.
        monitor.wakeAll()
        complete(
            tickets.map { ticket in
                let waited = begin > ticket.since ? begin - ticket.since : 0
                return (ticket, .success(Hashed(result: result, waited: waited, took: end &- begin)))
            }
        )
    }
}

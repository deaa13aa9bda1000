// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit

/// The queue and the threads behind ``HashingSlots``.
///
/// The threads hold this object and not the slots, so that they end when nobody holds the slots any more.
final class HashingCore: Sendable {
    typealias Answer = Result<Hashed, HashingRefusal>
    /// Somebody to be told, and what.
    typealias News = [(ticket: Ticket, answer: Answer)]

    /// One request for a computation.
    ///
    /// Everything that changes in it does so under the monitor's lock.
    final class Ticket: @unchecked Sendable {
        fileprivate var continuation: CheckedContinuation<Answer, Never>?
        fileprivate var isCancelled = false
        fileprivate var job: UInt64?
        fileprivate var since: UInt64 = 0
    }

    /// What is to be computed.
    struct Order: Sendable {
        let memory: Int
        let source: String
        let key: Digest?
        let work: @Sendable () -> HashingResult
    }

    /// An order, and everybody who wants it.
    private struct Job: Sendable {
        let order: Order
        let since: UInt64
        var tickets: [Ticket]
    }

    private struct State {
        var numbers = HashingNumbers()
        var threads = 0
        var idle = 0
        var isClosed = false
        var lastJob: UInt64 = 0
        /// All jobs that wait or run.
        var jobs: [UInt64: Job] = [:]
        /// Jobs that others may join.
        var byKey: [Digest: UInt64] = [:]
        var queue = TurnQueue()
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

    var numbers: HashingNumbers {
        monitor.withLock { state in
            state.numbers.waiting = state.queue.count
            return state.numbers
        }
    }

    /// Has the threads end once nothing waits.
    func close() {
        monitor.withLock { $0.isClosed = true }
        monitor.wakeAll()
    }

    // MARK: Coming and going

    /// Joins a job that is on its way, or queues a new one, or refuses.
    func enter(_ ticket: Ticket, _ continuation: CheckedContinuation<Answer, Never>, _ order: Order) {
        let time = now()
        let news = monitor.withLock { state -> News in
            ticket.continuation = continuation
            ticket.since = time
            guard !ticket.isCancelled else {
                state.numbers.cancelled += 1
                return [(ticket, .failure(.cancelled))]
            }
            if let key = order.key, let number = state.byKey[key] {
                ticket.job = number
                state.jobs[number]?.tickets.append(ticket)
                state.numbers.coalesced += 1
                return []
            }
            var news = dropLate(&state, time)
            guard hasThread(&state) else { return news + [(ticket, .failure(.noThread))] }
            if state.queue.count >= settings.queue {
                guard let victim = victim(state.queue, for: order.source) else {
                    state.numbers.refused += 1
                    return news + [(ticket, .failure(.full))]
                }
                let dropped = drop(&state, victim)
                state.numbers.refused += dropped.count
                news += dropped.map { ($0, .failure(.full)) }
            }
            state.lastJob += 1
            ticket.job = state.lastJob
            state.jobs[state.lastJob] = Job(order: order, since: time, tickets: [ticket])
            if let key = order.key { state.byKey[key] = state.lastJob }
            state.queue.append(state.lastJob, of: order.source)
            return news
        }
        monitor.wakeOne()
        tell(news)
    }

    /// Takes note that nobody waits for a ticket any more.
    func cancel(_ ticket: Ticket) {
        let isWaiting = monitor.withLock { state -> Bool in
            ticket.isCancelled = true
            guard let number = ticket.job, state.jobs[number] != nil else { return false }
            ticket.job = nil
            state.jobs[number]?.tickets.removeAll { $0 === ticket }
            state.numbers.cancelled += 1
            // One that runs is computed to its end: a thread cannot be taken out of a hash.
            if state.jobs[number]?.tickets.isEmpty == true { _ = drop(&state, number) }
            return true
        }
        if isWaiting { tell([(ticket, .failure(.cancelled))]) }
    }

    private func tell(_ news: News) {
        for (ticket, answer) in news {
            let continuation = monitor.withLock { _ in
                defer { ticket.continuation = nil }
                return ticket.continuation
            }
            continuation?.resume(returning: answer)
        }
    }

    /// Which job goes where there is no place for one more.
    private func victim(_ queue: TurnQueue, for source: String) -> UInt64? {
        guard let longest = queue.longest else { return nil }
        switch settings.whenFull {
        case .cancelOldest: return queue.oldest(of: longest.source)
        case .refuse: return longest.count > queue.count(of: source) + 1 ? queue.newest(of: longest.source) : nil
        }
    }

    /// Drops what has waited too long; the first of a line has waited longest.
    private func dropLate(_ state: inout State, _ time: UInt64) -> News {
        guard state.queue.count > 0 else { return [] }
        var news: News = []
        var late: [UInt64]
        repeat {
            late = state.queue.heads.filter { (state.jobs[$0]?.since ?? time) &+ wait <= time }
            for number in late { news += drop(&state, number).map { ($0, .failure(.late)) } }
        } while !late.isEmpty
        state.numbers.late += news.count
        return news
    }

    /// Takes a job that waits out of everything; one that runs stays.
    private func drop(_ state: inout State, _ number: UInt64) -> [Ticket] {
        guard let job = state.jobs[number], state.queue.remove(number, of: job.order.source) else { return [] }
        forget(&state, number, job)
        return job.tickets
    }

    private func forget(_ state: inout State, _ number: UInt64, _ job: Job) {
        state.jobs[number] = nil
        if let key = job.order.key, state.byKey[key] == number { state.byKey[key] = nil }
        for ticket in job.tickets { ticket.job = nil }
    }

    // MARK: Threads

    /// Whether there is a thread that will come by; one more is started if none is idle and there may be more.
    private func hasThread(_ state: inout State) -> Bool {
        guard state.idle == 0 || state.queue.count >= state.idle, state.threads < settings.workers else {
            return state.threads > 0
        }
        // Counted before it runs, so that there are never more than there may be.
        state.threads += 1
        if Worker.start(niceness: settings.niceness, work) { return true }
        state.threads -= 1
        return state.threads > 0
    }

    /// What a thread does until it is no longer needed.
    private func work() {
        while let task = take() {
            let begin = now()
            let result = task.order.work()
            finish(task, result, begin: begin, end: now())
        }
    }

    /// What is to be done next, whatever it takes until there is something; nil when the thread is to end.
    private func take() -> Assignment? {
        while true {
            var isIdle = false
            let step = monitor.wait { state -> Step? in
                if isIdle { state.idle -= 1 }
                isIdle = false
                let news = dropLate(&state, now())
                guard news.isEmpty else { return .tell(news) }
                if let next = state.queue.next, let job = state.jobs[next], fits(job, state) {
                    _ = state.queue.takeNext()
                    state.numbers.running += 1
                    state.numbers.memory += job.order.memory
                    return .compute(Assignment(number: next, order: job.order))
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
            case .tell(let news): tell(news)
            case .compute(let task): return task
            case .end: return nil
            }
        }
    }

    private struct Assignment {
        let number: UInt64
        let order: Order
    }

    private enum Step {
        case tell(News)
        case compute(Assignment)
        case end
    }

    /// Whether there is memory for a job besides what runs; where there is not, its turn comes when something ends.
    private func fits(_ job: Job, _ state: State) -> Bool {
        state.numbers.memory + job.order.memory <= settings.memory
    }

    private func finish(_ task: Assignment, _ result: HashingResult, begin: UInt64, end: UInt64) {
        let tickets = monitor.withLock { state -> [Ticket] in
            state.numbers.running -= 1
            state.numbers.memory -= task.order.memory
            state.numbers.computed += 1
            guard let job = state.jobs[task.number] else { return [] }
            forget(&state, task.number, job)
            return job.tickets
        }
        // What waits for memory may have it now.
        monitor.wakeAll()
        tell(
            tickets.map { ticket in
                let waited = begin > ticket.since ? begin - ticket.since : 0
                return (ticket, .success(Hashed(result: result, waited: waited, took: end &- begin)))
            }
        )
    }
}

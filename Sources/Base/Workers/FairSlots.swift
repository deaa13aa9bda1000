// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A fixed number of slots for calls that run at the same time, with a bounded queue of waiting calls.
///
/// The sources (client addresses) take turns, so a source that floods the queue delays only its own calls. A call that has
/// waited longer than the configured time is rejected when the next call begins to wait, ends or is cancelled.
package final class FairSlots: Sendable {
    /// The reason why a call was not made.
    package enum Refusal: Error, Sendable, Hashable {
        /// The queue is full.
        case full
        /// The call has waited too long.
        case timedOut
        case cancelled
        /// The system has no more threads.
        case noThread
    }

    /// A slot that a call holds.
    package struct Slot: Sendable {
        fileprivate let job: FairQueue.Job
    }

    package typealias Answer = @Sendable (Result<Slot, Refusal>) -> Void

    private struct State {
        var queue: FairQueue
        var lastNumber: UInt64 = 0
        var waiting: [UInt64: Answer] = [:]
        /// The answers that are given after the lock.
        var answers: [(Answer, Result<Slot, Refusal>)] = []

        /// Gives the free slots to waiting calls, as far as these may run.
        mutating func startWaiting() {
            while let (number, job) = queue.takeNext() { answer(number, .success(Slot(job: job))) }
        }

        mutating func reject(_ number: UInt64, _ refusal: Refusal) {
            if queue.remove(number) { answer(number, .failure(refusal)) }
        }

        private mutating func answer(_ number: UInt64, _ result: Result<Slot, Refusal>) {
            if let answer = waiting.removeValue(forKey: number) { answers.append((answer, result)) }
        }
    }

    private let slots: Int
    private let queue: Int
    private let wait: UInt64
    private let cancelsOldest: Bool
    private let now: @Sendable () -> UInt64
    /// A lock that does not spin: the threads that use it may be more than the processors.
    private let state: Monitor<State>

    /// Creates slots with a monotonic clock and a longest wait in nanoseconds; at most some thousands of calls may wait.
    ///
    /// When the queue is full, the new call is rejected or, if another source or user has more waiting calls, the newest call
    /// of that one; with `cancelsOldest`, the oldest call of the source or user with the most waiting calls. One source, and
    /// one user, hold at most half of the slots (``FairQueue``), except for `unlimitedSource`, for example that of calls that
    /// did not come over a network; if it is nil, all may hold all. The weights of the running calls are at most `capacity`.
    package init(
        count: Int,
        queue: Int,
        wait: UInt64,
        cancelsOldest: Bool,
        unlimitedSource: String?,
        capacity: Int = .max,
        now: @escaping @Sendable () -> UInt64
    ) {
        slots = count
        self.queue = queue
        self.wait = wait
        self.cancelsOldest = cancelsOldest
        self.now = now
        let queue = FairQueue(slots: count, capacity: capacity, unlimitedSource: unlimitedSource)
        state = Monitor(State(queue: queue))
    }

    /// The numbers of held slots and of waiting calls, and the weight of the running calls.
    package var load: (held: Int, waiting: Int, weight: Int) {
        state.withLock { (slots - $0.queue.free, $0.queue.count, $0.queue.weight) }
    }

    /// Waits for a slot, and runs a call in it.
    package func run<Value>(for owner: JobOwner, _ call: () async -> Value) async throws(Refusal) -> Value {
        let first = FirstValue<Result<Slot, Refusal>>()
        let number = request(for: owner) { first.set($0) }
        let slot = try await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            cancel(number)
        }
        .get()
        defer { release(slot) }
        return await call()
    }

    /// Asks for a slot, or a refusal, and returns the number for ``cancel(_:)``.
    ///
    /// The answer comes before the function returns, or on the thread of another call, which it must not block. The weight
    /// must not exceed the capacity.
    package func request(for owner: JobOwner, weight: Int = 0, answer: @escaping Answer) -> UInt64 {
        var number: UInt64 = 0
        change { state, time in
            state.lastNumber += 1
            number = state.lastNumber
            if let job = state.queue.start(owner, weight: weight) {
                state.answers.append((answer, .success(Slot(job: job))))
                return
            }
            if state.queue.isFull(limit: queue) {
                guard let other = state.queue.jobToReject(for: owner, cancelsOldest: cancelsOldest) else {
                    state.answers.append((answer, .failure(.full)))
                    return
                }
                state.reject(other, .full)
            }
            state.waiting[number] = answer
            state.queue.append(number, of: owner, weight: weight, since: time)
        }
        return number
    }

    /// Cancels a waiting call; does nothing if it has its answer.
    package func cancel(_ number: UInt64) { change(cancelling: number) }

    /// Gives a slot back.
    package func release(_ slot: Slot) {
        change { state, _ in
            state.queue.finish(slot.job)
            state.queue.freeSlot()
        }
    }

    /// Ends a call before its slot is free: it counts no longer for its source and its user, whose next call may take the
    /// place of the slot in the queue.
    package func finish(_ slot: Slot) { change { state, _ in state.queue.finish(slot.job) } }

    /// Frees the slot of a call that was ended by ``finish(_:)``.
    package func free() { change { state, _ in state.queue.freeSlot() } }

    /// Rejects the calls that have waited too long.
    package func rejectLate() { change() }

    /// Rejects the calls that have waited too long, makes a change, and starts the calls that may then run.
    private func change(cancelling number: UInt64? = nil, _ body: (inout State, UInt64) -> Void = { _, _ in }) {
        let time = now()
        let answers = state.withLock { state in
            if let number { state.reject(number, .cancelled) }
            while let (number, since) = state.queue.oldest, since &+ wait <= time { state.reject(number, .timedOut) }
            body(&state, time)
            state.startWaiting()
            defer { state.answers = [] }
            return state.answers
        }
        for (answer, result) in answers { answer(result) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Synchronization

/// A fixed number of slots for calls that run at the same time, with a bounded queue of waiting calls.
///
/// The sources (client addresses) take turns, so a source that floods the queue delays only its own calls. One source, and
/// one user, hold at most half of the slots (``LimitedQueue``). A call that has waited longer than the configured time is
/// rejected when the next call begins, ends or is cancelled.
package final class CallSlots: Sendable {
    /// The reason why a call got no slot.
    package enum Refusal: Error, Sendable, Hashable {
        /// The queue is full.
        case full
        /// The call has waited too long.
        case timedOut
        /// The caller's task was cancelled.
        case cancelled
    }

    private final class Ticket: Sendable {
        let number = Mutex<UInt64?>(nil)
    }

    private struct Waiting {
        let owner: JobOwner
        let since: UInt64
        let continuation: CheckedContinuation<Result<Void, Refusal>, Never>
    }

    private typealias Completions = [(Waiting, Result<Void, Refusal>)]

    private struct State {
        var free: Int
        var lastNumber: UInt64 = 0
        var waiting: [UInt64: Waiting] = [:]
        var queue: LimitedQueue

        /// Gives a free slot to a new call; returns false if it must wait.
        mutating func takeFreeSlot(for owner: JobOwner) -> Bool {
            guard free > 0, queue.canRun(owner) else { return false }
            free -= 1
            queue.begin(owner)
            return true
        }

        /// Gives the free slots to waiting calls, as far as these may run.
        mutating func startWaiting() -> Completions {
            var completions: Completions = []
            while free > 0, let number = queue.takeNext(), let next = waiting.removeValue(forKey: number) {
                free -= 1
                completions.append((next, .success(())))
            }
            return completions
        }

        mutating func take(_ number: UInt64) -> Waiting? {
            guard let taken = waiting.removeValue(forKey: number) else { return nil }
            queue.remove(number)
            return taken
        }

        /// Removes the calls that have waited too long.
        mutating func dropExpired(at time: UInt64, after wait: UInt64) -> Completions {
            var completions: Completions = []
            while let number = queue.oldest, (waiting[number]?.since ?? time) &+ wait <= time,
                let expired = take(number)
            {
                completions.append((expired, .failure(.timedOut)))
            }
            return completions
        }
    }

    private let queue: Int
    private let wait: UInt64
    private let cancelsOldest: Bool
    private let now: @Sendable () -> UInt64
    /// A lock that does not spin: the threads that use it may be more than the processors.
    private let state: Monitor<State>

    /// - Parameters:
    ///   - count: The number of slots, 1 or more.
    ///   - queue: The maximum number of waiting calls.
    ///   - wait: The maximum time that a call waits.
    ///   - cancelsOldest: True to reject the oldest call of the source or user with the most waiting calls when the queue
    ///     is full; false to reject the new call or, if another source or user has more waiting calls, the newest call of
    ///     that one. Of the calls of a user, it is one of the source with the most of them.
    ///   - unlimitedSource: The source that may hold all slots, for example that of calls that did not come over a network.
    ///   - now: The time of a monotonic clock, in nanoseconds.
    package init(
        count: Int,
        queue: Int,
        wait: Duration,
        cancelsOldest: Bool,
        unlimitedSource: String,
        now: @escaping @Sendable () -> UInt64
    ) {
        self.queue = queue
        self.wait = wait.nanoseconds
        self.cancelsOldest = cancelsOldest
        self.now = now
        state = Monitor(State(free: count, queue: LimitedQueue(slots: count, unlimitedSource: unlimitedSource)))
    }

    /// The number of waiting calls.
    package var waitingCalls: Int { state.withLock { $0.queue.count } }

    /// The number of free slots.
    package var freeSlots: Int { state.withLock { $0.free } }

    /// Waits for a slot, and runs a call in it.
    ///
    /// - Parameters:
    ///   - owner: The source and the user of the call. Sources take turns.
    ///   - call: The call.
    /// - Returns: The result of the call.
    /// - Throws: ``Refusal`` if the call got no slot.
    package func run<Value>(for owner: JobOwner, _ call: () async -> Value) async throws(Refusal) -> Value {
        try await acquire(owner).get()
        defer { release(owner) }
        return await call()
    }

    private func acquire(_ owner: JobOwner) async -> Result<Void, Refusal> {
        if state.withLock({ $0.takeFreeSlot(for: owner) }) { return .success(()) }
        let ticket = Ticket()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in submit(ticket, owner: owner, continuation: continuation) }
        } onCancel: {
            cancel(ticket)
        }
    }

    private func submit(
        _ ticket: Ticket,
        owner: JobOwner,
        continuation: CheckedContinuation<Result<Void, Refusal>, Never>
    ) {
        let time = now()
        let own = Waiting(owner: owner, since: time, continuation: continuation)
        let completions = state.withLock { state -> Completions in
            // The end of a waiting call, too, can let others run.
            var completions = state.dropExpired(at: time, after: wait) + state.startWaiting()
            if state.takeFreeSlot(for: owner) { return completions + [(own, .success(()))] }
            if state.queue.count >= queue {
                guard let rejected = state.queue.jobToReject(for: owner, cancelsOldest: cancelsOldest),
                    let other = state.take(rejected)
                else { return completions + [(own, .failure(.full))] }
                completions.append((other, .failure(.full)))
            }
            state.lastNumber += 1
            ticket.number.withLock { $0 = state.lastNumber }
            state.waiting[state.lastNumber] = own
            state.queue.append(state.lastNumber, of: owner)
            return completions + state.startWaiting()
        }
        complete(completions)
        // The task may have been cancelled before the ticket had a number.
        if Task.isCancelled { cancel(ticket) }
    }

    private func cancel(_ ticket: Ticket) {
        guard let number = ticket.number.withLock({ $0 }) else { return }
        let time = now()
        complete(
            state.withLock { state in
                guard let cancelled = state.take(number) else { return [] }
                let expired = state.dropExpired(at: time, after: wait)
                return [(cancelled, .failure(.cancelled))] + expired + state.startWaiting()
            }
        )
    }

    private func release(_ owner: JobOwner) {
        let time = now()
        complete(
            state.withLock { state in
                let expired = state.dropExpired(at: time, after: wait)
                state.queue.end(of: owner)
                state.free += 1
                return expired + state.startWaiting()
            }
        )
    }

    private func complete(_ completions: Completions) {
        for (waiting, result) in completions { waiting.continuation.resume(returning: result) }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import Synchronization

/// A fixed number of slots for calls that run at the same time, with a bounded queue of waiting calls.
///
/// The sources (client addresses) take turns, so a source that floods the queue delays only its own calls. One source, and
/// one user, hold at most half of the slots (``LimitedQueue``). A call that has waited longer than the configured time is
/// rejected when the next call begins or ends.
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
    }

    private typealias Completions = [(Waiting, Result<Void, Refusal>)]

    private let queue: Int
    private let wait: UInt64
    private let cancelsOldest: Bool
    private let now: @Sendable () -> UInt64
    private let state: Mutex<State>

    /// - Parameters:
    ///   - count: The number of slots, 1 or more.
    ///   - queue: The maximum number of waiting calls.
    ///   - wait: The maximum time that a call waits.
    ///   - cancelsOldest: True to reject the oldest call of the source with the most waiting calls when the queue is full;
    ///     false to reject the new call.
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
        state = Mutex(State(free: count, queue: LimitedQueue(slots: count, unlimitedSource: unlimitedSource)))
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
            var completions = dropExpired(&state, at: time)
            // No waiting call can run, or it would: the free slots count for this call alone.
            if state.takeFreeSlot(for: owner) { return completions + [(own, .success(()))] }
            if state.queue.count >= queue {
                guard let rejected = state.queue.jobToReject(for: owner.source, cancelsOldest: cancelsOldest),
                    let other = take(rejected, from: &state)
                else { return completions + [(own, .failure(.full))] }
                completions.append((other, .failure(.full)))
            }
            state.lastNumber += 1
            ticket.number.withLock { $0 = state.lastNumber }
            state.waiting[state.lastNumber] = own
            state.queue.append(state.lastNumber, of: owner)
            return completions
        }
        complete(completions)
        // The task may have been cancelled before the ticket had a number.
        if Task.isCancelled { cancel(ticket) }
    }

    private func cancel(_ ticket: Ticket) {
        guard let number = ticket.number.withLock({ $0 }) else { return }
        if let waiting = state.withLock({ take(number, from: &$0) }) { complete([(waiting, .failure(.cancelled))]) }
    }

    private func release(_ owner: JobOwner) {
        let time = now()
        complete(
            state.withLock { state in
                var completions = dropExpired(&state, at: time)
                state.queue.end(of: owner)
                state.free += 1
                // The end of one call can let calls run that had to wait although slots were free.
                while state.free > 0, let number = state.queue.takeNext(),
                    let next = state.waiting.removeValue(forKey: number)
                {
                    state.free -= 1
                    completions.append((next, .success(())))
                }
                return completions
            }
        )
    }

    private func take(_ number: UInt64, from state: inout State) -> Waiting? {
        guard let waiting = state.waiting.removeValue(forKey: number) else { return nil }
        state.queue.remove(number, of: waiting.owner)
        return waiting
    }

    /// Removes the calls that have waited too long.
    ///
    /// Only the first call of each source is checked, because it has waited longest.
    private func dropExpired(_ state: inout State, at time: UInt64) -> Completions {
        guard state.queue.count > 0 else { return [] }
        var completions: Completions = []
        var expired: [UInt64]
        repeat {
            expired = state.queue.firstJobs.filter { (state.waiting[$0]?.since ?? time) &+ wait <= time }
            for number in expired {
                if let waiting = take(number, from: &state) { completions.append((waiting, .failure(.timedOut))) }
            }
        } while !expired.isEmpty
        return completions
    }

    private func complete(_ completions: Completions) {
        for (waiting, result) in completions { waiting.continuation.resume(returning: result) }
    }
}

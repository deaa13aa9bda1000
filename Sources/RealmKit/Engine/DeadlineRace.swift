// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// A call of a module against its deadline: whichever ends first is the answer.
///
/// The module runs in a task that this race owns. A module must not block its thread: when as many block as there are cores,
/// nothing else runs until one of them returns, and its answer is then too late. If the deadline or a cancellation wins, that task is cancelled and no
/// longer waited for, because a module that never answers would otherwise hold the login for ever. Whatever it still
/// does counts for nothing: its round has failed.
enum DeadlineRace {
    static func run(
        _ call: ModuleCall,
        of module: any LoginModule,
        record: LoginRecord,
        within limit: Duration
    ) async -> ModuleAnswer {
        let finish = Finish()
        let limit = max(limit.nanoseconds, 1)
        let begin = record.stack.clock.now
        let work = Task {
            let answer = await call.perform(on: module, record)
            // Modules that block may keep the watch from its thread too: an answer that is late is late all the same.
            let isLate = timeLeft(call, record, begin: begin, now: record.stack.clock.now, limit: limit) == 0
            finish.take(isLate ? late(limit) : answer)
        }
        let ticket = record.stack.watch.add(at: begin &+ limit) { now in
            let left = timeLeft(call, record, begin: begin, now: now, limit: limit)
            if left == 0 { finish.take(late(limit)) }
            return left == 0 ? nil : now &+ left
        }
        defer {
            record.stack.watch.forget(ticket)
            work.cancel()
        }
        // Who cancels a login still wants it undone.
        if call.phase == .abort || call.phase == .logout { return await finish.answer() }
        return await withTaskCancellationHandler {
            await finish.answer()
        } onCancel: {
            finish.take(ModuleAnswer(.unavailable("the login was cancelled")))
        }
    }

    /// How long to wait until looking again; 0 when the module has used up its time.
    ///
    /// What it spends waiting for the conversation does not count: while the other end has the word, nothing is used up.
    private static func timeLeft(
        _ call: ModuleCall,
        _ record: LoginRecord,
        begin: UInt64,
        now: UInt64,
        limit: UInt64
    ) -> UInt64 {
        let asking = record.asking(round: call.round, now: now)
        guard asking.since == nil else { return max(limit, pollingInterval) }
        let used = now &- begin
        let working = used > asking.total ? used - asking.total : 0
        return working >= limit ? 0 : limit - working
    }

    /// How often at most to look whether the other end has answered: ten times a second.
    private static let pollingInterval: UInt64 = 100_000_000

    private static func late(_ limit: UInt64) -> ModuleAnswer {
        ModuleAnswer(.unavailable("the module did not answer within \(Duration.nanoseconds(Int64(clamping: limit)))"))
    }

    /// Takes the first answer and drops the others.
    private final class Finish: Sendable {
        private enum State {
            case open
            case waited(CheckedContinuation<ModuleAnswer, Never>)
            case settled(ModuleAnswer)
        }

        private let state = Mutex(State.open)

        func take(_ answer: ModuleAnswer) {
            let waiting: CheckedContinuation<ModuleAnswer, Never>? = state.withLock { state in
                switch state {
                case .open:
                    state = .settled(answer)
                    return nil
                case .waited(let continuation):
                    state = .settled(answer)
                    return continuation
                case .settled: return nil
                }
            }
            waiting?.resume(returning: answer)
        }

        func answer() async -> ModuleAnswer {
            await withCheckedContinuation { continuation in
                let settled: ModuleAnswer? = state.withLock { state in
                    if case .settled(let answer) = state { return answer }
                    state = .waited(continuation)
                    return nil
                }
                if let settled { continuation.resume(returning: settled) }
            }
        }
    }
}

extension Duration {
    /// The whole nanoseconds; 0 for less than none, and as much as fits for more than 584 years.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? UInt64(Int64.max) : whole &+ UInt64(attoseconds / 1_000_000_000)
    }
}

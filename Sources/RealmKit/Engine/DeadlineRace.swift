// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// A call of a module against its deadline: whichever ends first is the answer.
///
/// The module runs in a task that this race owns. If the deadline or a cancellation wins, that task is cancelled and no
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
        let work = Task { finish.take(await call.perform(on: module, record)) }
        let timer = Task { await time(call, record, within: limit.nanoseconds, finish) }
        defer {
            work.cancel()
            timer.cancel()
        }
        return await withTaskCancellationHandler {
            await finish.answer()
        } onCancel: {
            finish.take(ModuleAnswer(.unavailable("the login was cancelled")))
        }
    }

    /// Waits until the module has used up its time, not counting what it spent waiting for the conversation.
    private static func time(_ call: ModuleCall, _ record: LoginRecord, within limit: UInt64, _ finish: Finish) async {
        let begin = record.stack.clock.now
        while true {
            let asking = record.asking(round: call.round)
            let used = record.stack.clock.now &- begin
            let working = used > asking.total ? used - asking.total : 0
            if working >= limit, asking.since == nil { break }
            // While the conversation has the word nothing is used up; look again a whole limit later.
            let wait = asking.since == nil ? limit - working : limit
            do throws(CancellationError) {
                try await record.stack.clock.sleep(until: record.stack.clock.now &+ max(wait, 1))
            } catch {
                return
            }
        }
        finish.take(
            ModuleAnswer(.unavailable("the module did not answer within \(Duration.nanoseconds(Int64(limit)))"))
        )
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

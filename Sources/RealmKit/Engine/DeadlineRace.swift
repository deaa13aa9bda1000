// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes

/// A call of a module with a deadline: the first of answer, deadline and cancellation decides.
///
/// The module runs in a task that this race owns. If the deadline or a cancellation comes first, the task is cancelled
/// and no longer awaited, since a module that never returns would otherwise hold the login for ever. Later commits of
/// the module have no effect: its round has failed. A module must not block its thread: when as many modules block as
/// there are cores, nothing else runs until one of them returns, and its answer is then too late.
enum DeadlineRace {
    static func run(
        _ call: ModuleCall,
        of module: any LoginModule,
        record: LoginRecord,
        within limit: Duration
    ) async -> ModuleAnswer {
        let first = FirstValue<ModuleAnswer>()
        let limit = max(limit.nanoseconds, 1)
        let begin = record.stack.clock.now
        let work = Task {
            let answer = await call.perform(on: module, record: record)
            // Blocking modules may also keep the watch from running: a late answer is rejected here too.
            let left = timeLeft(for: call, record: record, begin: begin, now: record.stack.clock.now, limit: limit)
            first.set(left == 0 ? tooLate(limit) : answer)
        }
        let ticket = record.stack.timers.add(at: begin &+ limit) { now in
            let left = timeLeft(for: call, record: record, begin: begin, now: now, limit: limit)
            if left == 0 { first.set(tooLate(limit)) }
            return left == 0 ? nil : now &+ left
        }
        defer {
            record.stack.timers.remove(ticket)
            work.cancel()
        }
        // A cancelled login still has to be undone.
        if call.phase == .abort || call.phase == .logout { return await first.value() }
        return await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            first.set(ModuleAnswer(.unavailable("the login was cancelled")))
        }
    }

    /// Returns the time until the next check; 0 if the module has used up its time.
    ///
    /// The time spent waiting for the conversation does not count.
    private static func timeLeft(
        for call: ModuleCall,
        record: LoginRecord,
        begin: UInt64,
        now: UInt64,
        limit: UInt64
    ) -> UInt64 {
        let conversation = record.conversationTime(round: call.round, now: now)
        guard conversation.since == nil else { return max(limit, pollingInterval) }
        let used = now &- begin
        let own = used > conversation.total ? used - conversation.total : 0
        return own >= limit ? 0 : limit - own
    }

    /// The shortest time between two checks for an answer of the conversation: a tenth of a second.
    private static let pollingInterval: UInt64 = 100_000_000

    private static func tooLate(_ limit: UInt64) -> ModuleAnswer {
        ModuleAnswer(.unavailable("the module did not answer within \(Duration.nanoseconds(Int64(clamping: limit)))"))
    }
}

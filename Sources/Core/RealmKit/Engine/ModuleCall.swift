// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Workers

struct ModuleCall: Sendable {
    let entry: Int
    let phase: LoginPhase
    /// The number of this call in its login.
    let round: Int
    /// True if the module has succeeded in the login phase.
    let succeeded: Bool

    func attempt(of record: LoginRecord) -> LoginAttempt {
        LoginAttempt(login: record, module: entry, round: round, succeeded: succeeded)
    }
}

/// The answer of a module to a call.
enum ModuleAnswer: Sendable {
    case outcome(Outcome)
    // Faults are rare. Behind a reference, they do not make every answer larger.
    indirect case fault(LoginFault)

    init(_ outcome: Outcome) { self = .outcome(outcome) }

    init(_ fault: LoginFault) { self = .fault(fault) }

    var outcome: Outcome {
        switch self {
        case .outcome(let outcome): outcome
        case .fault(let fault): .failure(fault.kind)
        }
    }

    init(_ completion: Completion) { self.init(completion == .done ? Outcome.success : .ignored) }

    /// Creates the answer from a verdict; the proof of a success must belong to this call.
    @inline(__always)
    init(_ verdict: Verdict, to call: ModuleCall, record: LoginRecord) {
        switch verdict {
        case .success(let token):
            guard token.login === record, token.round == call.round, token.number >= 0 else {
                self.init(
                    LoginFault.internalError("the module returned a success that it did not commit in this login")
                )
                return
            }
            record.markReturned(token.number, of: token.round)
            self.init(Outcome.success)
        case .ignored:
            self.init(Outcome.ignored)
        case .failed(let failure):
            self.init(Outcome.failure(failure))
        }
    }
}

extension ModuleCall {
    @inline(__always)
    func perform(on module: some ImmediateLoginModule, record: LoginRecord) -> ModuleAnswer {
        let attempt = attempt(of: record)
        do throws(LoginFault) {
            switch phase {
            case .login: return ModuleAnswer(try module.authenticateUser(attempt), to: self, record: record)
            case .commit: return ModuleAnswer(try module.commit(attempt))
            case .abort: return ModuleAnswer(try module.abort(attempt))
            case .logout: return ModuleAnswer(try module.logout(attempt))
            }
        } catch {
            return ModuleAnswer(error)
        }
    }

    /// Calls a module and waits for its answer, without a time limit.
    func perform(on module: any LoginModule, record: LoginRecord) async -> ModuleAnswer {
        let attempt = attempt(of: record)
        do throws(LoginFault) {
            switch phase {
            case .login: return ModuleAnswer(try await module.authenticateUser(attempt), to: self, record: record)
            case .commit: return ModuleAnswer(try await module.commit(attempt))
            case .abort: return ModuleAnswer(try await module.abort(attempt))
            case .logout: return ModuleAnswer(try await module.logout(attempt))
            }
        } catch {
            return ModuleAnswer(error)
        }
    }
}

/// A call of a module that ends with the module's answer, at its deadline, or when the login is cancelled.
///
/// The module runs in a task of its own, which begins on the caller's thread if it is a ``NonblockingLoginModule``. If the
/// deadline or a cancellation comes first, the task is cancelled and no longer awaited, so a module that never returns does
/// not hold the login for ever; its later commits have no effect, because its round has failed. A module must not block its
/// thread: the pool has one for each core, and if that many modules block, deadlines wait until one of them returns.
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
        let operation = { @Sendable in
            let answer = await call.perform(on: module, record: record)
            // Blocking modules may delay the timers, so a late answer is rejected here too.
            let left = timeLeft(for: call, record: record, begin: begin, now: record.stack.clock.now, limit: limit)
            first.set(left == 0 ? tooLate(limit) : answer)
        }
        let work: Task<Void, Never>
        if module is any NonblockingLoginModule, !Task.isCancelled {
            work = Task.immediate(executorPreference: ResumingExecutor.shared, operation: operation)
            // A call that does not wait, such as most commits, needs no timer.
            if let answer = first.current { return answer }
        } else {
            work = Task(operation: operation)
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
        // A cancellation does not end the wait for an abort or a logout: both also run for a cancelled login.
        if call.phase == .abort || call.phase == .logout { return await first.value() }
        return await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            first.set(ModuleAnswer(.unavailable("the login was cancelled")))
        }
    }

    /// Returns the time until the next check; 0 if the module has used up its time, without its waits for the conversation.
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

    /// The minimum time between two checks while the module waits for the conversation: 0.1 seconds.
    private static let pollingInterval: UInt64 = 100_000_000

    private static func tooLate(_ limit: UInt64) -> ModuleAnswer {
        let time = Duration.nanoseconds(Int64(clamping: limit))
        var fault = LoginFault.unavailable("the module did not answer within \(time)")
        fault.isLate = true
        return ModuleAnswer(fault)
    }
}

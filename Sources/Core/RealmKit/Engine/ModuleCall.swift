// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Workers

extension LoginAttempt {
    /// Calls an immediate module in the phase of this attempt.
    @inline(__always)
    func perform(on module: some ImmediateLoginModule) throws(LoginFault) -> Outcome {
        switch phase {
        case .login: try outcome(of: module.authenticateUser(self))
        case .commit: Outcome(try module.commit(self))
        case .abort: Outcome(try module.abort(self))
        case .logout: Outcome(try module.logout(self))
        }
    }

    /// Calls a module in the phase of this attempt, and waits for it without a time limit.
    func perform(on module: any LoginModule) async throws(LoginFault) -> Outcome {
        switch phase {
        case .login: try outcome(of: await module.authenticateUser(self))
        case .commit: Outcome(try await module.commit(self))
        case .abort: Outcome(try await module.abort(self))
        case .logout: Outcome(try await module.logout(self))
        }
    }

    /// Returns the outcome of a verdict; the proof of a success must belong to this call.
    @inline(__always)
    private func outcome(of verdict: Verdict) throws(LoginFault) -> Outcome {
        switch verdict {
        case .success(let proof):
            guard proof.login === login, proof.round == round, proof.number >= 0 else {
                throw .internalError("the module returned a success that it did not commit in this login")
            }
            login.keepSuccess(proof.number, of: round)
            return .success
        case .ignored: return .ignored
        case .failed(let failure): return .failure(failure)
        }
    }
}

extension Outcome {
    fileprivate init(_ completion: Completion) { self = completion == .done ? .success : .ignored }
}

/// A call of a module that ends with the module's answer, at its deadline, or when the login is cancelled.
///
/// The module runs in a task of its own, which begins on the caller's thread if it is a ``NonblockingLoginModule``. If the
/// deadline or a cancellation comes first, the task is cancelled and no longer awaited, so a module that never returns does
/// not hold the login for ever; its later commits have no effect, because its round has failed. A module must not block its
/// thread: the pool has one for each core, and if that many modules block, deadlines wait until one of them returns.
enum DeadlineRace {
    static func run(
        _ call: LoginAttempt,
        of module: any LoginModule,
        within limit: Duration
    ) async -> Result<Outcome, LoginFault> {
        let first = FirstValue<Result<Outcome, LoginFault>>()
        let limit = max(limit.nanoseconds, 1)
        let stack = call.login.stack
        let begin = stack.clock.now
        let operation = { @Sendable in
            let answer: Result<Outcome, LoginFault>
            do throws(LoginFault) {
                answer = .success(try await call.perform(on: module))
            } catch {
                answer = .failure(error)
            }
            // Blocking modules may delay the timers, so a late answer is rejected here too.
            let left = timeLeft(for: call, begin: begin, now: stack.clock.now, limit: limit)
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
        let ticket = stack.timers.add(at: begin &+ limit) { now in
            let left = timeLeft(for: call, begin: begin, now: now, limit: limit)
            if left == 0 { first.set(tooLate(limit)) }
            return left == 0 ? nil : now &+ left
        }
        defer {
            stack.timers.remove(ticket)
            work.cancel()
        }
        // A cancellation does not end the wait for an abort or a logout: both also run for a cancelled login.
        if call.phase == .abort || call.phase == .logout { return await first.value() }
        return await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            first.set(.failure(.unavailable("the login was cancelled")))
        }
    }

    /// Returns the time until the next check; 0 if the module has used up its time, without its waits for the conversation.
    private static func timeLeft(for call: LoginAttempt, begin: UInt64, now: UInt64, limit: UInt64) -> UInt64 {
        let conversation = call.login.conversationTime(round: call.round, now: now)
        guard conversation.since == nil else { return max(limit, pollingInterval) }
        let used = now &- begin
        let own = used > conversation.total ? used - conversation.total : 0
        return own >= limit ? 0 : limit - own
    }

    /// The minimum time between two checks while the module waits for the conversation: 0.1 seconds.
    private static let pollingInterval: UInt64 = 100_000_000

    private static func tooLate(_ limit: UInt64) -> Result<Outcome, LoginFault> {
        let time = Duration.nanoseconds(Int64(clamping: limit))
        var fault = LoginFault.unavailable("the module did not answer within \(time)")
        fault.isLate = true
        return .failure(fault)
    }
}

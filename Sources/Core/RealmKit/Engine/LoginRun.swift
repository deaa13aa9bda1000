// SPDX-License-Identifier: Apache-2.0

/// The evaluation of one login or logout: the next module to call, and the decision.
///
/// The phases are those of JAAS. If the login phase succeeds, the commit phase calls the same modules and counts their
/// results by the same tables. If one of the two fails, the abort phase calls every module that the login phase called.
///
/// The run calls immediate modules itself. For any other module ``advance()`` returns the call, which the caller makes, and
/// passes the answer to ``process(_:answer:isTimed:)``.
struct LoginRun: ~Copyable, Sendable {
    let stack: LoginStack
    let record: LoginRecord
    /// True if the login may be granted; if not, every success of a module counts as wrong credentials.
    private let mayGrant: Bool

    private var phase: LoginPhase
    private var walk = StackWalk()
    // After the login phase: the next of its calls to repeat.
    private var position = 0
    private var hasEnded = false
    /// True if the run is to be held before its commit phase.
    private let waitsForDecision: Bool
    /// True if the login phase has succeeded, and the run waits for ``decide(grants:)``.
    private(set) var isHeld = false
    private var trace = LoginTrace()
    // The number of modules whose commit was done.
    private var committedCount = 0
    // The time of the last reading of the clock; nil if the durations are not measured.
    private var lastInstant: UInt64?
    // The modules to call in a logout.
    private let reached: ArraySlice<LoginStep>

    init(
        _ stack: LoginStack,
        request: consuming LoginRequest,
        conversation: any Conversation,
        mayGrant: Bool = true,
        measuringDurations: Bool,
        waitsForDecision: Bool = false
    ) {
        self.stack = stack
        self.mayGrant = mayGrant
        self.waitsForDecision = waitsForDecision
        record = LoginRecord(consume request, conversation: conversation, stack: stack, mayGrant: mayGrant)
        phase = .login
        reached = []
        trace.steps.reserveCapacity(min(2 * stack.rules.count, 8))
        lastInstant = measuringDurations ? stack.clock.now : nil
    }

    init(_ stack: LoginStack, request: consuming LoginRequest, undoing login: LoginRecord) {
        self.stack = stack
        mayGrant = false
        record = LoginRecord(
            consume request,
            conversation: PreparedConversation.silent,
            stack: stack,
            nested: login.nested
        )
        waitsForDecision = false
        phase = .logout
        reached = login.trace.reached
        lastInstant = stack.clock.now
    }

    /// Calls immediate modules until the caller must call a module, whose call is returned; nil at the end.
    mutating func advance() -> LoginAttempt? {
        while let call = nextCall() {
            guard let immediate = stack.immediateCalls[call.module] else { return call }
            let answer: Result<Outcome, LoginFault>
            do throws(LoginFault) {
                answer = .success(try immediate(call))
            } catch {
                answer = .failure(error)
            }
            // After the login phase immediate modules are not timed: the clock would cost more than their work.
            process(call, answer: answer, isTimed: call.phase == .login)
        }
        return nil
    }

    @inline(__always)
    private mutating func nextCall() -> LoginAttempt? {
        while !hasEnded {
            switch phase {
            case .login:
                if let entry = walk.nextModule(in: stack) {
                    return call(entry, succeeded: false)
                }
                trace.reachedCount = trace.steps.count
                if !(walk.grants && mayGrant) {
                    refuse(.login)
                } else if waitsForDecision {
                    isHeld = true
                    return nil
                } else {
                    begin(.commit)
                }
            case .commit:
                while position < trace.reachedCount {
                    // The step is not copied, because a copy counts references.
                    let module = trace.steps[position].index
                    if walk.advance(to: module, in: stack) {
                        return call(module, succeeded: trace.steps[position].outcome == .success)
                    }
                    position += 1
                }
                if walk.grants { grant() } else { refuse(.commit) }
            case .abort:
                if position < trace.reachedCount {
                    let module = trace.steps[position].index
                    return call(module, succeeded: trace.steps[position].outcome == .success)
                }
                hasEnded = true
            case .logout:
                if position < reached.count {
                    return call(reached[position].index, succeeded: reached[position].outcome == .success)
                }
                if !walk.grants { trace.refusal = reason(.logout) }
                hasEnded = true
            }
        }
        return nil
    }

    /// Ends the wait of a held run: the commit phase follows, or the abort phase.
    mutating func decide(grants: Bool) {
        guard isHeld else { return }
        isHeld = false
        begin(grants ? .commit : .abort)
    }

    /// The user whom a held run will establish, unless a commit fails.
    var expectedName: Username { record.expectedName(trace) }

    private func call(_ module: Int, succeeded: Bool) -> LoginAttempt {
        LoginAttempt(login: record, module: module, phase: phase, round: trace.steps.count, succeeded: succeeded)
    }

    private mutating func begin(_ next: LoginPhase) {
        phase = next
        position = 0
        walk = StackWalk()
    }

    private mutating func grant() {
        trace.isGranted = true
        hasEnded = true
        // If every reached module has committed, no name can be missing.
        if committedCount == trace.reachedCount || !record.lacksUser(trace) { return }
        trace.isGranted = false
        hasEnded = false
        trace.refusal = .noUserEstablished
        begin(.abort)
    }

    private mutating func refuse(_ phase: LoginPhase) {
        let reason = reason(phase)
        // A locked login may report an outage: during the outage, unlocked accounts have the same refusal.
        trace.refusal = mayGrant || reason.failure.isTemporary ? reason : .locked
        begin(.abort)
    }

    private func reason(_ phase: LoginPhase) -> Refusal {
        if stack.rules.isEmpty { return .emptyStack }
        guard let cause = walk.failure else { return .allIgnored }
        // A table may count a success or an ignored login as a failure. Such an outcome has no failure code.
        let failure = cause.outcome.failure ?? .permissionDenied
        return .module(index: Int(cause.entry), phase: phase, failure: failure)
    }

    @inline(__always)
    mutating func process(_ call: LoginAttempt, answer: Result<Outcome, LoginFault>, isTimed: Bool = true) {
        let (answered, fault): (Outcome, LoginFault?) =
            switch answer {
            case .success(let outcome): (outcome, nil)
            case .failure(let fault): (.failure(fault.kind), fault)
            }
        var outcome = answered
        var action = stack.rules[call.module].action(for: outcome, in: call.phase)
        switch call.phase {
        case .login:
            // A locked login is evaluated as if the password were wrong. Otherwise the response or its time could
            // reveal that the password was right.
            guard !mayGrant, record.mayDependOnSecret(outcome, of: call.round) else { break }
            record.restoreSharedState(before: call.round)
            if outcome.isOutage { trace.hidesOutage = true }
            outcome = .failure(.wrongCredentials)
            action = stack.rules[call.module].table[outcome]
        case .commit:
            // If a module did not succeed and has nothing to commit, its outcome in the login phase counts again.
            if outcome == .ignored, !call.succeeded, trace.steps[position].action.counts {
                (outcome, action) = (trace.steps[position].outcome, trace.steps[position].action)
            }
            if answered == .success { committedCount += 1 }
            position += 1
        case .abort, .logout:
            position += 1
        }
        walk.count(outcome, of: call.module, as: action, in: stack)
        record.close(round: call.round)
        trace.steps.append(
            LoginStep(
                stack: stack,
                index: call.module,
                phase: call.phase,
                outcome: call.phase == .login && answered != .success ? outcome : answered,
                action: action,
                state: call.phase == .abort ? .refusing : walk.state,
                nanoseconds: isTimed ? elapsed() : 0,
                fault: fault
            )
        )
    }

    /// Returns the nanoseconds since the previous call of this function.
    private mutating func elapsed() -> UInt64 {
        guard let last = lastInstant else { return 0 }
        let now = stack.clock.now
        lastInstant = now
        return now &- last
    }

    /// Refuses a login that was cancelled in a call, or before it.
    mutating func cancel(at call: LoginAttempt) {
        if call.phase == .login {
            trace.reachedCount = trace.steps.count
            trace.cancelledAt = call.module
        }
        trace.refusal = .module(index: call.module, phase: call.phase, failure: .unavailable)
        begin(.abort)
    }

    // MARK: The end

    mutating func report() -> LoginReport {
        if !trace.isGranted {
            let refusal = trace.refusal ?? .allIgnored
            trace.refusal = refusal
            trace.outage = Outage(of: stack, trace: trace, refusal: refusal, record: record)
        }
        record.seal(&trace)
        return LoginReport(record: record)
    }

    mutating func logoutReport() -> LogoutReport {
        record.seal(&trace)
        return LogoutReport(record: record)
    }
}

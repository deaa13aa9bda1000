// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// One call of one module that the engine is about to make.
struct ModuleCall: Sendable {
    let entry: Int
    let phase: LoginPhase
    /// The number of this call in its login; whatever the module commits bears it.
    let round: Int
    /// Whether the module has succeeded in the login phase.
    let succeeded: Bool

    func attempt(_ record: LoginRecord) -> LoginAttempt {
        LoginAttempt(record: record, module: entry, round: round, succeeded: succeeded)
    }
}

/// What came of a call.
struct ModuleAnswer: Sendable {
    let outcome: Outcome
    let fault: LoginFault?

    init(_ outcome: Outcome) {
        self.outcome = outcome
        fault = nil
    }

    init(_ fault: LoginFault) {
        outcome = .failure(fault.kind)
        self.fault = fault
    }

    init(_ completion: Completion) {
        self.init(completion == .done ? Outcome.success : .ignored)
    }

    /// A success counts only with the token of this very call.
    @inline(__always)
    init(_ verdict: Verdict, to call: ModuleCall, record: LoginRecord) {
        switch verdict {
        case .success(let token):
            guard token.record === record, token.round == call.round, token.number >= 0 else {
                self.init(
                    LoginFault.internalError("the module returned a success that it did not commit in this login")
                )
                return
            }
            record.accept(token.number, of: token.round)
            self.init(Outcome.success)
        case .ignored:
            self.init(Outcome.ignored)
        case .failed(let failure):
            self.init(Outcome.failure(failure))
        }
    }
}

extension ModuleCall {
    /// Makes the call, here and now.
    @inline(__always)
    func perform(on module: some ImmediateLoginModule, _ record: LoginRecord) -> ModuleAnswer {
        let attempt = attempt(record)
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

    /// Makes the call and waits for the answer, however long it takes.
    func perform(on module: any LoginModule, _ record: LoginRecord) async -> ModuleAnswer {
        let attempt = attempt(record)
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

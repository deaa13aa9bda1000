// SPDX-License-Identifier: Apache-2.0

/// A call of a module that the engine is about to make.
struct ModuleCall: Sendable {
    let entry: Int
    let phase: LoginPhase
    /// The number of this call in its login; all contributions of the call have this number.
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

    init(_ completion: Completion) {
        self.init(completion == .done ? Outcome.success : .ignored)
    }

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
    /// Calls an immediate module.
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

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit
internal import Synchronization

/// A module that behaves as a test wants it to, well or badly, and remembers how it was called.
///
/// It is made in code, for stacks made in code. It may be used from any thread.
public struct FaultInjector: LoginModule {
    /// What a login does.
    public enum Behavior: Sendable {
        /// Says yes, with these groups.
        case accept(groups: [String] = [])
        /// Has nothing to say.
        case ignore
        /// Says no.
        case refuse(LoginFailure)
        /// Throws.
        case fail(LoginFault)
        /// Keeps the first success it has made, which it does not return, and returns it in every later login.
        case forge
        /// Does not answer, nor listen to a cancellation, before ``FaultInjector/release()``; then says yes.
        case hold(groups: [String] = [])
        /// Does this.
        case run(@Sendable (LoginAttempt) async throws(LoginFault) -> Verdict)
    }

    /// What a commit, an abort or a logout does.
    public enum Ending: Sendable {
        /// What modules do unless they say otherwise: done if the login was this module's success; a logout is done.
        case usual
        /// Done.
        case done
        /// Nothing to do.
        case ignore
        /// Throws.
        case fail(LoginFault)
        /// Does not answer, nor listen to a cancellation, before ``FaultInjector/release()``; then done.
        case hold
        /// Does this.
        case run(@Sendable (LoginAttempt) async throws(LoginFault) -> Completion)
    }

    /// One call of the module.
    public struct Call: Sendable, Hashable {
        /// What it was called for.
        public let phase: LoginPhase
        /// Who signs in or out.
        public let username: Username
        /// Whether the task was cancelled when it was called.
        public let isCancelled: Bool
    }

    private let login: Behavior
    private let commit, abort, logout: Ending
    private let journal = Journal<Call>()
    private let gate = Gate()
    private let forgery = Forgery()

    /// A module that behaves so.
    ///
    /// - Parameters:
    ///   - login: What a login does.
    ///   - commit: What a commit does.
    ///   - abort: What an abort does.
    ///   - logout: What a logout does.
    public init(
        _ login: Behavior = .accept(),
        commit: Ending = .usual,
        abort: Ending = .usual,
        logout: Ending = .usual
    ) {
        self.login = login
        self.commit = commit
        self.abort = abort
        self.logout = logout
    }

    /// A module that accepts everybody.
    ///
    /// - Parameters:
    ///   - realm: Any realm.
    ///   - options: None.
    /// - Throws: Nothing.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        self.init()
    }

    /// How it was called so far, in order.
    public var calls: [Call] { journal.entries }

    /// What it was called for so far, in order.
    public var phases: [LoginPhase] { calls.map(\.phase) }

    /// Waits until it has been called so many times.
    ///
    /// - Parameter count: How many times, at least.
    public func untilCalled(_ count: Int = 1) async { await journal.wait(for: count) }

    /// Lets go of every call that is held, now or later.
    public func release() { gate.open() }

    /// Does what was asked for.
    public func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        note(.login, attempt)
        switch login {
        case .accept(let groups): return attempt.commit(groups: groups)
        case .ignore: return .ignored
        case .refuse(let failure): return .failed(failure)
        case .fail(let fault): throw fault
        case .forge: return forgery.exchange(attempt.commit()) ?? .failed(.permissionDenied)
        case .hold(let groups):
            await gate.pass()
            return attempt.commit(groups: groups)
        case .run(let body): return try await body(attempt)
        }
    }

    /// Does what was asked for.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        note(.commit, attempt)
        return try await end(commit, attempt, usual: attempt.succeeded)
    }

    /// Does what was asked for.
    public func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        note(.abort, attempt)
        return try await end(abort, attempt, usual: attempt.succeeded)
    }

    /// Does what was asked for.
    public func logout(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        note(.logout, attempt)
        return try await end(logout, attempt, usual: true)
    }

    private func note(_ phase: LoginPhase, _ attempt: LoginAttempt) {
        journal.add(Call(phase: phase, username: attempt.username, isCancelled: Task.isCancelled))
    }

    private func end(_ ending: Ending, _ attempt: LoginAttempt, usual: Bool) async throws(LoginFault) -> Completion {
        switch ending {
        case .usual: return usual ? .done : .ignored
        case .done: return .done
        case .ignore: return .ignored
        case .fail(let fault): throw fault
        case .hold:
            await gate.pass()
            return .done
        case .run(let body): return try await body(attempt)
        }
    }
}

/// The first success of a module.
private final class Forgery: Sendable {
    private let kept = Mutex<Verdict?>(nil)

    /// What was kept; keeps this if nothing was.
    func exchange(_ verdict: Verdict) -> Verdict? {
        kept.withLock { kept in
            if kept == nil {
                kept = verdict
                return nil
            }
            return kept
        }
    }
}

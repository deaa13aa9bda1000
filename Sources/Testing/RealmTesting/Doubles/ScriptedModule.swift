// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A module with scripted behaviour, correct or faulty, that records its calls.
///
/// It is for stacks that a test creates in code. It may be used from any thread.
public struct ScriptedModule: LoginModule {
    /// The behaviour of a login.
    public enum Behavior: Sendable {
        /// Succeeds, with these groups.
        case accept(groups: [String] = [])
        /// Ignores the login.
        case ignore
        /// Refuses the login.
        case refuse(LoginFailure)
        /// Throws a fault.
        case fail(LoginFault)
        /// Waits for ``ScriptedModule/release()``, even after a cancellation, then succeeds.
        case hold(groups: [String] = [])
        /// Runs this closure.
        case run(@Sendable (LoginAttempt) async throws(LoginFault) -> Verdict)
    }

    /// The behaviour of a commit, an abort or a logout.
    public enum Ending: Sendable {
        /// The default of `LoginModule`: returns `done` if this module succeeded; a logout always returns `done`.
        case usual
        /// Returns `done`.
        case done
        /// Returns `ignored`.
        case ignore
        /// Throws a fault.
        case fail(LoginFault)
        /// Waits for ``ScriptedModule/release()``, even after a cancellation, then returns `done`.
        case hold
        /// Runs this closure.
        case run(@Sendable (LoginAttempt) async throws(LoginFault) -> Completion)
    }

    /// A call of the module.
    public struct Call: Sendable, Hashable {
        /// The phase of the call.
        public let phase: LoginPhase
        /// The user of the login.
        public let username: Username
        /// True if the task was cancelled before the call.
        public let isCancelled: Bool
    }

    private let login: Behavior
    private let commit, abort, logout: Ending
    private let journal = Journal<Call>()
    private let releases = Journal<Void>()

    /// Creates a module with a behaviour for each phase.
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

    /// Creates a module that accepts every user.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) { self.init() }

    /// The calls so far, in order.
    public var calls: [Call] { journal.entries }

    /// The phases of the calls so far, in order.
    public var phases: [LoginPhase] { calls.map(\.phase) }

    /// Waits until the module has been called at least a number of times.
    public func untilCalled(_ count: Int = 1) async { await journal.wait(for: count) }

    /// Ends the wait of all current and later calls that are held.
    public func release() { releases.add(()) }

    /// Runs the scripted behaviour.
    public func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        note(.login, of: attempt)
        switch login {
        case .accept(let groups): return attempt.commit(groups: groups)
        case .ignore: return .ignored
        case .refuse(let failure): return .failed(failure)
        case .fail(let fault): throw fault
        case .hold(let groups):
            await releases.wait(for: 1)
            return attempt.commit(groups: groups)
        case .run(let body): return try await body(attempt)
        }
    }

    /// Runs the scripted behaviour.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        note(.commit, of: attempt)
        return try await end(commit, of: attempt, usual: attempt.succeeded)
    }

    /// Runs the scripted behaviour.
    public func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        note(.abort, of: attempt)
        return try await end(abort, of: attempt, usual: attempt.succeeded)
    }

    /// Runs the scripted behaviour.
    public func logout(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        note(.logout, of: attempt)
        return try await end(logout, of: attempt, usual: true)
    }

    private func note(_ phase: LoginPhase, of attempt: LoginAttempt) {
        journal.add(Call(phase: phase, username: attempt.username, isCancelled: Task.isCancelled))
    }

    private func end(_ ending: Ending, of attempt: LoginAttempt, usual: Bool) async throws(LoginFault) -> Completion {
        switch ending {
        case .usual: return usual ? .done : .ignored
        case .done: return .done
        case .ignore: return .ignored
        case .fail(let fault): throw fault
        case .hold:
            await releases.wait(for: 1)
            return .done
        case .run(let body): return try await body(attempt)
        }
    }
}

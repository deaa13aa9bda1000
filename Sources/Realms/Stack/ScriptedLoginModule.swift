// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit
internal import Synchronization

/// Returns the results that its options list, for tests of stacks.
///
/// Options: `login`, `commit`, `abort`, `logout`, each one result or several separated by commas, one for each call,
/// the last of which repeats; `groups`, committed by a successful login; `principal`, a user principal added by a
/// commit that is done; `delay`, the time that a login takes; `password` and `code`, which the user must enter first,
/// one after the other. A result is
///
/// * `auto`: as a well-behaved module would (login yes, commit and abort done if this login was, logout done);
/// * `success` or `ignored`;
/// * a failure's code such as `wrong-credentials` or `unavailable`;
/// * `throw:` and such a code, for a module that throws;
/// * `forged`, a success of another login, which must be rejected; `never`, no result at all.
///
/// Source: pam_debug(8).
public struct ScriptedLoginModule: LoginModule {
    /// `login`, `commit`, `abort`, `logout`, `groups`, `principal`, `delay`, `password`, `code`.
    public static let options: PropertySchema = [
        .string("login", default: "auto"),
        .string("commit", default: "auto"),
        .string("abort", default: "auto"),
        .string("logout", default: "auto"),
        Property("groups", .list, default: ""),
        .optional("principal"),
        Property("delay", .duration, default: "0s"),
        .optional("password", .secret),
        .optional("code", .secret),
    ]

    private let login, commit, abort, logout: Script
    private let groups: [String]
    private let principals: [Principal]
    private let delay: Duration
    private let password: Secret?
    private let code: Secret?

    /// Creates the module.
    ///
    /// - Parameters:
    ///   - realm: Any realm.
    ///   - options: The results, as above.
    /// - Throws: ``BadModule`` if a result is none of the above.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        login = try Script(options, setting: "login")
        commit = try Script(options, setting: "commit")
        abort = try Script(options, setting: "abort")
        logout = try Script(options, setting: "logout")
        groups = try options.list("groups")
        principals = options.has("principal") ? [.user(try options.string("principal"))] : []
        delay = try options.duration("delay")
        password = options.has("password") ? try options.secret("password") : nil
        code = options.has("code") ? try options.secret("code") : nil
    }

    /// Returns the next result of `login`.
    public func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        if delay > .zero { try await pause(delay) }
        if let password {
            guard try await attempt.password().isEqual(to: password) else { return .failed(.wrongCredentials) }
        }
        if let code {
            guard try await attempt.oneTimeCode().isEqual(to: code) else { return .failed(.wrongCredentials) }
        }
        switch login.next() {
        case .auto, .success: return groups.isEmpty ? attempt.commit(only: []) : attempt.commit(groups: groups)
        case .ignored: return .ignored
        case .failure(let failure): return .failed(failure)
        case .fault(let failure): throw LoginFault(failure, log: "as scripted")
        case .forged: return Self.forgedSuccess.take() ?? keep(attempt)
        case .never: return try await never()
        }
    }

    /// Returns the next result of `commit`; if it is done, adds `principal`.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        let completion = try await complete(commit, auto: attempt.succeeded)
        if completion == .done { attempt.add(principals) }
        return completion
    }

    /// Returns the next result of `abort`.
    public func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        try await complete(abort, auto: attempt.succeeded)
    }

    /// Returns the next result of `logout`.
    public func logout(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        try await complete(logout, auto: true)
    }

    private func complete(_ script: Script, auto: Bool) async throws(LoginFault) -> Completion {
        switch script.next() {
        case .auto: return auto ? .done : .ignored
        case .success, .forged: return .done
        case .ignored: return .ignored
        case .failure(let failure), .fault(let failure): throw LoginFault(failure, log: "as scripted")
        case .never: return try await never()
        }
    }

    private func pause(_ duration: Duration) async throws(LoginFault) {
        do {
            try await Task.sleep(for: duration)
        } catch {
            throw .unavailable("cancelled while waiting")
        }
    }

    /// Never returns, not even when the task is cancelled.
    private func never<Result>() async throws(LoginFault) -> Result {
        while true {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                Self.forgotten.withLock { $0.append(continuation) }
            }
        }
    }

    private func keep(_ attempt: LoginAttempt) -> Verdict {
        Self.forgedSuccess.put(attempt.commit(only: []))
        return .failed(.permissionDenied)
    }

    private static let forgotten = Mutex<[CheckedContinuation<Void, Never>]>([])
    private static let forgedSuccess = Forgery()
}

/// A success of one login, kept to be returned in another.
private final class Forgery: Sendable {
    private let verdict = Mutex<Verdict?>(nil)

    func put(_ verdict: Verdict) { self.verdict.withLock { $0 = verdict } }

    func take() -> Verdict? { verdict.withLock { $0 } }
}

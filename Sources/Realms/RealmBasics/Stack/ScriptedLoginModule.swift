// SPDX-License-Identifier: Apache-2.0

public import RealmKit
internal import Synchronization

/// A module that returns the results in its options, for tests of stacks.
///
/// The options `login`, `commit`, `abort` and `logout` each contain the results of that function, separated by commas.
/// Each call returns the next result. The last result repeats. The other options are:
///
/// * `groups`: the groups that a successful login commits;
/// * `principal`: a user principal that a commit with the result `done` adds;
/// * `delay`: the time that a login takes;
/// * `password` and `code`: the answers that the user must enter first, one after the other.
///
/// A result is one of these:
///
/// * `auto`: the result of a correct module (login succeeds; commit and abort are done if the login succeeded; logout
///   is done);
/// * `success` or `ignored`;
/// * the code of a failure, such as `wrong-credentials` or `unavailable`;
/// * `throw:` and the code of a failure, such as `throw:unavailable`: the module throws the failure;
/// * `forged`: a success of another login, which the engine must reject;
/// * `never`: the call never returns.
///
/// The model is pam_debug(8).
public struct ScriptedLoginModule: LoginModule {
    /// The options `login`, `commit`, `abort`, `logout`, `groups`, `principal`, `delay`, `password`, `code`.
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

    private let login, commit, abort, logout: ScriptedResults
    private let groups: [String]
    private let principals: [Principal]
    private let delay: Duration
    private let password: Secret?
    private let code: Secret?

    /// Creates the module for any realm.
    ///
    /// - Throws: ``BadModule`` if a result is unknown.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        login = try ScriptedResults(options, setting: "login")
        commit = try ScriptedResults(options, setting: "commit")
        abort = try ScriptedResults(options, setting: "abort")
        logout = try ScriptedResults(options, setting: "logout")
        groups = try options.list("groups")
        principals = options.has("principal") ? [.user(try options.string("principal"))] : []
        delay = try options.duration("delay")
        password = options.has("password") ? try options.secret("password") : nil
        code = options.has("code") ? try options.secret("code") : nil
    }

    /// Returns the next result of `login`.
    public func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        do {
            if delay > .zero { try await Task.sleep(for: delay) }
        } catch {
            throw .unavailable("cancelled while waiting")
        }
        if let password, try await !attempt.password().isEqual(to: password) { return .failed(.wrongCredentials) }
        if let code, try await !attempt.oneTimeCode().isEqual(to: code) { return .failed(.wrongCredentials) }
        switch login.next() {
        case .auto, .success: return groups.isEmpty ? attempt.commit(only: []) : attempt.commit(groups: groups)
        case .ignored: return .ignored
        case .failure(let failure): return .failed(failure)
        case .fault(let failure): throw LoginFault(failure, log: "as scripted")
        case .forged: return Self.forgedSuccess.withLock { $0 } ?? storeForgery(attempt)
        case .never: return try await waitForever()
        }
    }

    /// Returns the next result of `commit`, and adds `principal` if the result is `done`.
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

    private func complete(_ script: ScriptedResults, auto: Bool) async throws(LoginFault) -> Completion {
        switch script.next() {
        case .auto: return auto ? .done : .ignored
        case .success, .forged: return .done
        case .ignored: return .ignored
        case .failure(let failure), .fault(let failure): throw LoginFault(failure, log: "as scripted")
        case .never: return try await waitForever()
        }
    }

    /// Never returns, not even when the task is cancelled.
    private func waitForever<Result>() async throws(LoginFault) -> Result {
        while true {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                Self.abandoned.withLock { $0.append(continuation) }
            }
        }
    }

    private func storeForgery(_ attempt: LoginAttempt) -> Verdict {
        let success = attempt.commit(only: [])
        Self.forgedSuccess.withLock { $0 = success }
        return .failed(.permissionDenied)
    }

    private static let abandoned = Mutex<[CheckedContinuation<Void, Never>]>([])
    /// A success of one login that is returned in another login.
    private static let forgedSuccess = Mutex<Verdict?>(nil)
}

/// The results that a function of a module returns, one for each call, of which the last repeats.
final class ScriptedResults: Sendable {
    enum Step: Sendable {
        case auto, success, ignored, forged, never
        case failure(LoginFailure), fault(LoginFailure)

        init?(_ word: Substring) {
            switch word {
            case "auto": self = .auto
            case "success", "true": self = .success
            case "ignored", "false": self = .ignored
            case "forged": self = .forged
            case "never": self = .never
            default:
                let isFault = word.hasPrefix("throw:")
                guard let failure = LoginFailure(code: String(isFault ? word.dropFirst(6) : word)) else { return nil }
                self = isFault ? .fault(failure) : .failure(failure)
            }
        }
    }

    private let steps: [Step]
    private let calls = Mutex(0)

    init(_ options: ModuleOptions, setting name: String) throws(BadModule) {
        var steps: [Step] = []
        for word in try options.string(name).split(separator: ",") {
            guard let step = Step(word) else {
                let known = LoginFailure.allCases.map(\.code).joined(separator: ", ")
                throw BadModule(
                    "has no result \(word); the results are auto, success, ignored, forged, never, a failure, and throw: with a failure; the failures are \(known)",
                    setting: name
                )
            }
            steps.append(step)
        }
        self.steps = steps
    }

    func next() -> Step {
        let call = calls.withLock { calls in
            defer { calls += 1 }
            return calls
        }
        return call < steps.count ? steps[call] : steps.last ?? .auto
    }
}

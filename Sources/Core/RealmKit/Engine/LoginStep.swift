// SPDX-License-Identifier: Apache-2.0

/// The phase of a login in which a module is called.
public enum LoginPhase: UInt8, Sendable, Hashable {
    /// ``LoginModule/authenticateUser(_:)``.
    case login
    /// ``LoginModule/commit(_:)``.
    case commit
    /// ``LoginModule/abort(_:)``.
    case abort
    /// ``LoginModule/logout(_:)``.
    case logout

    var decides: Bool { self == .login || self == .commit }

    /// The phase's name in JAAS.
    public var name: String {
        switch self {
        case .login: "login"
        case .commit: "commit"
        case .abort: "abort"
        case .logout: "logout"
        }
    }
}

/// One call of one module, and its effect on the decision.
public struct LoginStep: Sendable {
    /// The state of the decision after a step.
    public enum State: UInt8, Sendable, Hashable {
        /// Nothing has counted yet.
        case undecided
        /// A success has counted, and no failure.
        case granting
        /// A failure has counted.
        case refusing
    }

    let stack: LoginStack
    /// The module's place in its stack, from 0.
    public let index: Int
    /// The module's name in the configuration.
    public var module: String { stack.entries[index].name }
    /// The module's control flag or table in the configuration.
    public var control: String { stack.entries[index].control }
    /// The phase of the call.
    public let phase: LoginPhase
    /// The module's outcome.
    public let outcome: Outcome
    /// The stack's action for the outcome; in the abort phase always ``Action/ignore``.
    public let action: Action
    /// The state of the decision after the step.
    public let state: State
    /// The duration of the call, including the engine's work since the previous call.
    ///
    /// It is zero for the commit, abort and logout of an immediate module, and for all calls if the caller of the login did
    /// not request durations.
    public var duration: Duration { .nanoseconds(Int64(clamping: nanoseconds)) }
    let nanoseconds: UInt64
    /// The fault that the module threw; nil if it threw no fault.
    public let fault: LoginFault?
}

/// A note of a module about a call.
public struct LoginNote: Sendable, Hashable {
    /// The module's place in its stack, from 0.
    public let index: Int
    /// The text, without secrets.
    public let text: String
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Which part of a login a module was called for.
public enum LoginPhase: UInt8, Sendable, Hashable {
    /// ``LoginModule/authenticateUser(_:)``.
    case login
    /// ``LoginModule/commit(_:)``.
    case commit
    /// ``LoginModule/abort(_:)``.
    case abort
    /// ``LoginModule/logout(_:)``.
    case logout

    /// Whether what comes of it decides about the login.
    var decides: Bool { self == .login || self == .commit }

    /// The phase's name, as JAAS has it.
    public var name: String {
        switch self {
        case .login: "login"
        case .commit: "commit"
        case .abort: "abort"
        case .logout: "logout"
        }
    }
}

/// One call of one module, and what the stack made of it.
public struct LoginStep: Sendable {
    /// Where a stack stands after a step.
    public enum State: UInt8, Sendable, Hashable {
        /// Nothing has counted yet.
        case undecided
        /// As things stand the answer is yes.
        case granting
        /// As things stand the answer is no.
        case refusing
    }

    /// The module's place in its stack, from 0.
    public let index: Int
    /// The module's name, as the configuration spells it.
    public let module: String
    /// The module's control, as the configuration spells it.
    public let control: String
    /// What it was called for.
    public let phase: LoginPhase
    /// What came of it.
    public let outcome: Outcome
    /// What the stack did with that; in the abort phase always ``Action/ignore``.
    public let action: Action
    /// Where the phase stood after it.
    public let state: State
    /// How long the call took, the engine's own work since the call before included; zero where an immediate module was
    /// committed, aborted or logged out, which is not timed.
    public let duration: Duration
    /// What the module threw, if it threw.
    public let fault: LoginFault?
}

/// Something a module has noted about a call.
public struct LoginNote: Sendable, Hashable {
    /// The module's place in its stack, from 0.
    public let index: Int
    /// What it has noted, without secrets.
    public let text: String
}

/// How a login, or a logout, went: the decision and every step that led to it.
///
/// It holds no secret and no reference to the conversation, so it may be kept.
public struct LoginReport: Sendable {
    /// The answer.
    public enum Decision: Sendable {
        /// Yes, and who it is.
        case accepted(AuthenticatedIdentity)
        /// No, and why.
        case refused(Refusal)
    }

    let record: LoginRecord
    /// Why not, if the answer was no.
    public let refusal: Refusal?
    // Groups that the realm adds to what its modules have committed.
    var following: [String] = []

    init(_ record: LoginRecord, _ refusal: Refusal?) {
        self.record = record
        self.refusal = refusal
    }

    /// The answer.
    public var decision: Decision {
        if let refusal { return .refused(refusal) }
        return .accepted(AuthenticatedIdentity(record: record, following: following))
    }

    /// The name of the realm that was asked.
    public var realm: String { record.request.realm }
    /// Who somebody wanted to be.
    public var username: Username { record.request.username }
    /// What was signed in to.
    public var service: String { record.request.service }
    /// The network address the request came from, if it came over one.
    public var peer: String? { record.request.peer }

    /// Who has been established, if the answer was yes.
    public var identity: AuthenticatedIdentity? {
        refusal == nil ? AuthenticatedIdentity(record: record, following: following) : nil
    }

    /// Every call of a module, in order.
    public var steps: [LoginStep] { record.steps }

    /// What modules have noted about how they did it, in order.
    public var notes: [LoginNote] { record.notes }

    /// How long all of it took.
    public var duration: Duration { steps.reduce(.zero) { $0 + $1.duration } }
}

/// Why a login was refused.
public enum Refusal: Sendable, Hashable {
    /// A module's failure decided: the first that counted, or the first at all if none did and nobody said yes.
    case module(index: Int, phase: LoginPhase, failure: LoginFailure)
    /// No module failed, and none said yes.
    case allIgnored
    /// The stack has no modules.
    case emptyStack
    /// The module that said who this is could not complete the login, though others could: nobody knows who it is.
    case nobodyNamed
    /// The throttle had closed the account or the address, whatever the modules would have said.
    case locked

    /// The kind of failure it amounts to; permission denied when it is neither a module's nor the throttle's.
    public var failure: LoginFailure {
        switch self {
        case .module(_, _, let failure): failure
        case .locked: .locked
        case .allIgnored, .emptyStack, .nobodyNamed: .permissionDenied
        }
    }
}

/// How a logout went.
public struct LogoutReport: Sendable {
    let record: LoginRecord

    /// Why the logout as a whole counts as failed; nil if it does not.
    public var refusal: Refusal? { record.refusal }

    /// Every call of a module, in order.
    public var steps: [LoginStep] { record.steps }
}

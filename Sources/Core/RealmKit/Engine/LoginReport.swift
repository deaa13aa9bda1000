// SPDX-License-Identifier: Apache-2.0

/// The result of a login: the decision and every step that led to it.
///
/// It contains no secret and no reference to the conversation, so it may be stored.
public struct LoginReport: Sendable {
    /// The decision about a login.
    public enum Decision: Sendable {
        /// The user is accepted.
        case accepted(AuthenticatedIdentity)
        /// The user is refused.
        case refused(Refusal)
    }

    let record: LoginRecord

    /// The reason for the refusal, for the log only; nil if the login was accepted.
    ///
    /// A client may learn only ``isUnavailable``.
    public var refusal: Refusal? { record.trace.refusal }
    /// The decision.
    public var decision: Decision {
        if let identity { .accepted(identity) } else { .refused(refusal ?? .allIgnored) }
    }

    /// The name of the realm in the request.
    public var realm: String { record.request.realm }
    /// The user name in the request.
    public var username: Username { record.request.username }
    /// The service that the user signed in to.
    public var service: String { record.request.service }
    /// The network address of the client; nil if the login did not come over a network.
    public var peer: String? { record.request.peer }

    /// The accepted user; nil if the login was refused.
    public var identity: AuthenticatedIdentity? {
        record.isGranted ? AuthenticatedIdentity(record: record) : nil
    }

    /// True if the throttle has locked the account or the client's address, so that no answer of a module could grant.
    package var isLocked: Bool { !record.mayGrant }

    /// The effect of an outage on the refusal; nil if there is no effect.
    public var outage: Outage? { record.trace.outage }

    /// True if the response may be 503, because the login cannot be decided now.
    ///
    /// While the same modules are down, the value is the same for all refused logins, so it reveals nothing about the
    /// credentials. ``refusal`` may depend on the credentials, so it must not be shown.
    public var isUnavailable: Bool { outage?.mayBeShown ?? false }

    /// True if a module, also of another realm that the login used, was unavailable or broken, even if the login was rejected
    /// for another reason.
    package var metOutage: Bool { outage != nil || met(\.outcome.isOutage) }

    /// True if the login could not be decided for a cause that may be an outage, and certainly is no overload: a module's
    /// deadline may be shorter than the time after which its realm recognizes an overload.
    var mayBeOutage: Bool { isUnavailable && !met { $0.outcome == .failure(.overloaded) } && !metDeadline }

    /// True if the login could not be decided for a fault of load, or before the deadline of a module; like
    /// ``isUnavailable``, it reveals nothing about the credentials, and a deadline shows by its time.
    package var isOverloaded: Bool { isUnavailable && (outage?.isOverload == true || metDeadline) }

    /// True if an outage of this locked login counts as wrong credentials, in this realm or in a realm that it uses.
    var hidesOutage: Bool { record.containsLogin { $0.trace.hidesOutage } }

    private var metDeadline: Bool { met { $0.fault?.isLate == true } }

    /// Returns whether a step that decides met a condition, in this realm or in a realm that the login used.
    private func met(_ condition: (LoginStep) -> Bool) -> Bool {
        record.containsLogin { $0.trace.steps.contains { $0.phase.decides && condition($0) } }
    }

    /// True if the login was cancelled after it had called a module.
    ///
    /// The client has chosen the moment. If a rejection takes longer than an acceptance, it knows without an answer that the
    /// password was wrong.
    public var wasCancelled: Bool { record.trace.cancelledAt != nil && record.trace.reachedCount > 0 }

    /// True if the client presented a password or a code in a refused login, even if no module requested it.
    public var presentedSecret: Bool { record.presentedSecret }

    /// Every call of a module, in order.
    public var steps: [LoginStep] { record.trace.steps }
    /// The stack that was evaluated; nil if it called no module.
    package var stack: LoginStack? { steps.first?.stack }
    /// The notes of the modules, in order.
    public var notes: [LoginNote] { record.notes }
    /// The duration of all steps.
    public var duration: Duration { steps.reduce(.zero) { $0 + $1.duration } }
}

/// The result of a logout.
public struct LogoutReport: Sendable {
    let record: LoginRecord

    /// The reason for the failure of the whole logout; nil if it succeeded.
    public var refusal: Refusal? { record.trace.refusal }

    /// Every call of a module, in order.
    public var steps: [LoginStep] { record.trace.steps }
}

/// The reason for the refusal of a login.
public enum Refusal: Sendable, Hashable {
    /// A module failed.
    ///
    /// It is the first module whose failure counted. If no failure counted and no module succeeded, it is the first
    /// module that failed.
    case module(index: Int, phase: LoginPhase, failure: LoginFailure)
    /// No module failed, and no module succeeded.
    case allIgnored
    /// The stack has no modules.
    case emptyStack
    /// The modules that named the user could not commit, but other modules could, so the user's name is not known.
    case noUserEstablished
    /// The throttle has locked the account or the client's address, whatever the modules decided.
    case locked

    /// The kind of failure; `permissionDenied` if neither a module nor the throttle caused the refusal.
    public var failure: LoginFailure {
        switch self {
        case .module(_, _, let failure): failure
        case .locked: .locked
        case .allIgnored, .emptyStack, .noUserEstablished: .permissionDenied
        }
    }
}

/// Proof that a realm's stack has accepted a user: only the engine creates it, when it has granted the login.
public struct AuthenticatedIdentity: Sendable {
    let record: LoginRecord

    /// The name of the realm that accepted the user.
    public var realm: String { record.request.realm }
    /// The user name, as spelled by the first module that committed a name.
    public var username: Username { record.establishedName }
    /// The service that the user signed in to.
    public var service: String { record.request.service }

    /// All principals: users, groups, roles.
    public var subject: Subject { record.subject }
    /// The names of all groups, each once.
    public var groups: [String] { subject.groups }
    /// The user's attributes, each name once.
    public var attributes: [UserAttribute] { subject.attributes }

    /// Returns whether the user is a member of a group.
    public func isMember(of group: String) -> Bool { record.isMember(of: group) }
}

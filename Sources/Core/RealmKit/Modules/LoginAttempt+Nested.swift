// SPDX-License-Identifier: Apache-2.0

/// The result of the login phase in another realm.
package enum NestedLogin: Sendable {
    /// The other realm accepts the user of this name, unless its commit phase fails.
    case accepted(Username)
    /// The other realm has refused the user; a fault of its modules is in the log text.
    case refused(LoginFailure, log: String?)
}

extension LoginAttempt {
    /// Logs the user in at another realm, with the name, the service, the address and the conversation of this login.
    ///
    /// Call it at most once in a call of a module. Only the login phase is evaluated: call ``commitNested()`` in the commit of
    /// the module, ``abortNested()`` in its abort, and ``logoutNested()`` in its logout. The modules of the other realm have
    /// their own deadlines, and this call has one for all of them; the wait for the user counts towards none. There is no
    /// second throttle: if this login is locked, the other realm's stack is evaluated as locked. A failure is chosen so that
    /// the response of this login and its throttle treat an outage as those of the other realm would.
    package func login(in realm: BoundRealm) async throws(LoginFault) -> NestedLogin {
        let request = LoginRequest(realm: realm.name, username: username, service: service, peer: peer)
        let held = await HeldLogin(request, in: realm, asking: NestedConversation(self), mayGrant: login.mayGrant)
        guard login.add(held, module: module, round: round) else {
            _ = await held.finish(grants: false)
            throw .unavailable("the login in realm \(realm.name) came too late")
        }
        if let name = held.name { return .accepted(name) }
        guard let report = held.report, let refusal = report.refusal else {
            throw .internalError("a refused login has no report")
        }
        note(report)
        let failure =
            report.outage.map { outage -> LoginFailure in
                guard outage.mayBeShown else { return .internalError }
                return outage.isOverload ? .overloaded : .unavailable
            } ?? refusal.failure
        return .refused(failure, log: report.log(of: failure))
    }

    /// The name of the user whom another realm has accepted in this module's call of ``login(in:)``; nil if there is none.
    package var nestedName: Username? { nestedLogins.last?.name }

    /// Commits the login that the module has made in another realm; its steps and notes become notes of this call.
    package func commitNested() async throws(LoginFault) -> AuthenticatedIdentity {
        guard let held = nestedLogins.last, let name = held.name,
            let report = await held.finish(grants: true)
        else { throw .internalError("the login in another realm is missing") }
        note(report)
        guard let identity = report.identity else {
            let failure = report.refusal?.failure ?? .internalError
            throw LoginFault(failure, log: report.log(of: failure) ?? "realm \(report.realm) refused its commit")
        }
        // An abort of this login has not seen the identity.
        guard login.isOpen(round: round) else {
            _ = await identity.logoutOnce()
            throw .unavailable("the commit in realm \(report.realm) came too late")
        }
        // Another module of the realm names the user if the commit of the first one has failed.
        guard identity.username == name else {
            throw .internalError("realm \(report.realm) names the user \(identity.username) now, and not \(name)")
        }
        return identity
    }

    /// Aborts the logins that the module has made in other realms, or logs them out if they were committed.
    package func abortNested() async throws(LoginFault) {
        for held in nestedLogins where held.report == nil {
            if let report = await held.finish(grants: false) { note(report) }
        }
        try await logoutNested()
    }

    /// The logins in other realms that the module has made.
    private var nestedLogins: [HeldLogin] { login.nested.filter { $0.module == module }.map(\.login) }

    private func note(_ report: LoginReport) {
        for text in report.nestedTexts { note("\(report.realm): \(text)") }
    }

    /// Logs out the identities that other realms have accepted in this module's calls, each once.
    package func logoutNested() async throws(LoginFault) {
        for identity in nestedLogins.compactMap({ $0.report?.identity }) {
            guard let report = await identity.logoutOnce(), let failure = report.refusal?.failure else { continue }
            throw LoginFault(failure, log: "the logout in realm \(identity.realm) failed")
        }
    }
}

extension AuthenticatedIdentity {
    /// Logs out, unless a logout has begun before.
    fileprivate func logoutOnce() async -> LogoutReport? {
        guard beginLogout() else { return nil }
        return await logout()
    }
}

extension LoginReport {
    /// The steps and the notes, one text each, for the notes of another login.
    fileprivate var nestedTexts: [String] {
        let steps = steps.map { step in
            let fault = step.fault.map { ": \($0.log)" } ?? ""
            return "\(step.index) \(step.module) \(step.control) \(step.phase.name) \(step.outcome)\(fault)"
        }
        return steps + notes.map { "\($0.index) \($0.text)" }
    }

    /// Returns the first fault of a kind, with the names of the realm and of its module.
    fileprivate func log(of kind: LoginFailure) -> String? {
        steps.lazy.compactMap { step in
            step.fault.flatMap { $0.kind == kind ? "realm \(realm): \(step.module): \($0.log)" : nil }
        }.first
    }
}

/// The conversation of a login in another realm: it asks through the attempt of the module that made the login, so the wait
/// does not count towards that module's deadline, and the secrets count as presented in the outer login.
private final class NestedConversation: Conversation {
    private let attempt: LoginAttempt

    init(_ attempt: LoginAttempt) { self.attempt = attempt }

    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        try await attempt.login.ask(callbacks, round: attempt.round, isNested: true)
    }
}

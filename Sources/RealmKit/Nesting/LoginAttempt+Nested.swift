// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A login in another realm that a module makes as part of its own call.
package enum NestedLogin: Sendable {
    /// The other realm has accepted the user.
    case accepted(AuthenticatedIdentity)
    /// The other realm has refused the user; a fault of its modules is in the log text.
    case refused(LoginFailure, log: String?)
}

extension LoginAttempt {
    /// Logs the user in at another realm, with the name, the service, the address and the conversation of this login.
    ///
    /// The other realm's stack is evaluated completely, with its groups, by the same engine. Its modules have their own
    /// deadlines, and this call has one for all of them; the wait for the user counts towards none. There is no second
    /// throttle: if this login is locked, the other realm's stack is evaluated as locked. The steps and notes become
    /// notes of this call. Call it at most once in a call of a module.
    ///
    /// The identity is kept until the login ends; see ``logoutNested()``.
    ///
    /// - Parameter realm: The other realm.
    /// - Returns: The identity; or the failure to return, chosen so that the response of this login and its throttle
    ///   treat an outage as those of the other realm would.
    /// - Throws: ``LoginFault`` of kind `unavailable` if this call has ended before the login.
    package func login(in realm: BoundRealm) async throws(LoginFault) -> NestedLogin {
        let request = LoginRequest(realm: realm.name, username: username, service: service, peer: peer)
        let report = await realm.login(request, asking: NestedConversation(self), mayGrant: login.mayGrant)
        for text in report.nestedTexts { note("\(realm.name): \(text)") }
        guard nesting?.addNested(report, module: module, round: round) == true else {
            _ = await report.identity?.logoutOnce()
            throw .unavailable("the login in realm \(realm.name) came too late")
        }
        guard let refusal = report.refusal else {
            guard let identity = report.identity else { throw .internalError("an accepted login has no identity") }
            return .accepted(identity)
        }
        let failure = report.outage.map { $0.mayBeShown ? .unavailable : .internalError } ?? refusal.failure
        return .refused(failure, log: report.fault(of: failure).map { "realm \(realm.name): \($0)" })
    }

    /// The identities that other realms have accepted in this module's calls of ``login(in:)``, in order.
    package var nestedIdentities: [AuthenticatedIdentity] { nesting?.nestedIdentities(of: module) ?? [] }

    private var nesting: (any NestingLogin)? { login as? any NestingLogin }

    /// Logs out the identities that other realms have accepted in this module's calls, each once.
    ///
    /// - Throws: ``LoginFault`` if a module of another realm could not log the user out.
    package func logoutNested() async throws(LoginFault) {
        for identity in nestedIdentities {
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

    /// Returns the first fault of a kind, with the name of its module.
    fileprivate func fault(of kind: LoginFailure) -> String? {
        steps.lazy.compactMap { step in
            step.fault.flatMap { $0.kind == kind ? "\(step.module): \($0.log)" : nil }
        }.first
    }
}

/// The conversation of a login in another realm: it asks through the attempt of the module that made the login.
///
/// The wait for the user therefore does not count towards the deadline of that module either, and the secrets that the
/// user enters count as presented in the outer login.
private final class NestedConversation: Conversation {
    private let attempt: LoginAttempt

    init(_ attempt: LoginAttempt) {
        self.attempt = attempt
    }

    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] { try await attempt.ask(callbacks) }
}

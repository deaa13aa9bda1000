// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

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
        guard nesting?.addNested(held, module: module, round: round) == true else {
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
    package var nestedName: Username? { nesting?.nestedLogins(of: module).last?.name }

    /// Commits the login that the module has made in another realm; its steps and notes become notes of this call.
    package func commitNested() async throws(LoginFault) -> AuthenticatedIdentity {
        guard let held = nesting?.nestedLogins(of: module).last, let name = held.name,
            let report = await held.finish(grants: true)
        else { throw .internalError("the login in another realm is missing") }
        note(report)
        guard let identity = report.identity else {
            let failure = report.refusal?.failure ?? .internalError
            throw LoginFault(failure, log: report.log(of: failure) ?? "realm \(report.realm) refused its commit")
        }
        // An abort of this login has not seen the identity.
        guard nesting?.isOpen(round: round) == true else {
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
        for held in nesting?.nestedLogins(of: module) ?? [] where held.report == nil {
            if let report = await held.finish(grants: false) { note(report) }
        }
        try await logoutNested()
    }

    private var nesting: (any NestingLogin)? { login as? any NestingLogin }

    private func note(_ report: LoginReport) {
        for text in report.nestedTexts { note("\(report.realm): \(text)") }
    }

    /// Logs out the identities that other realms have accepted in this module's calls, each once.
    package func logoutNested() async throws(LoginFault) {
        for identity in nesting?.nestedLogins(of: module).compactMap({ $0.report?.identity }) ?? [] {
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

/// A login in another realm whose commit phase waits for the decision of the login that has made it.
///
/// It has ended if the login phase has refused the user; otherwise ``finish(grants:)`` ends it.
final class HeldLogin: Sendable {
    private struct State: ~Copyable {
        var run: LoginRun?
        var report: LoginReport?
    }

    private let realm: BoundRealm
    private let state: Mutex<State>
    /// The user whom the commit phase will establish; nil if the login was refused.
    let name: Username?

    /// Evaluates the login phase of a realm's stack.
    init(
        _ request: consuming LoginRequest,
        in realm: BoundRealm,
        asking conversation: any Conversation,
        mayGrant: Bool
    ) async {
        self.realm = realm
        var run = LoginRun(
            realm.stack,
            request: consume request,
            conversation: conversation,
            mayGrant: mayGrant,
            measuringDurations: true,
            waitsForDecision: true
        )
        await realm.stack.advance(&run)
        if run.isHeld {
            name = run.expectedName
            state = Mutex(State(run: run, report: nil))
        } else {
            name = nil
            state = Mutex(State(run: nil, report: run.report()))
        }
    }

    /// The report; nil while the login is held.
    var report: LoginReport? { state.withLock { $0.report } }

    /// Releases a login that no module will end any more, with its secrets.
    func discard() { state.withLock { $0.run = nil } }

    /// Commits or aborts a held login, once; returns nil while another call is about to end it.
    func finish(grants: Bool) async -> LoginReport? {
        guard var run = state.withLock({ $0.run.take() }) else { return report }
        run.decide(grants: grants)
        await realm.stack.advance(&run)
        var report = run.report()
        realm.addRealmGroups(to: &report)
        let ended = report
        state.withLock { $0.report = ended }
        return ended
    }
}

/// A login that keeps the logins which its modules make in other realms.
protocol NestingLogin: OngoingLogin {
    /// Adds a login in another realm; returns false if the call has ended.
    func addNested(_ login: HeldLogin, module: Int, round: Int) -> Bool

    /// True until the engine has received the answer to the call.
    func isOpen(round: Int) -> Bool

    func nestedLogins(of module: Int) -> [HeldLogin]
}

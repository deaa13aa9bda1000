// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

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

    /// Commits or aborts a held login, once; returns nil while another call is about to end it, and after
    /// ``discard()``.
    func finish(grants: Bool) async -> LoginReport? {
        guard var run = state.withLock({ $0.run.take() }) else { return report }
        run.decide(grants: grants)
        await realm.stack.advance(&run)
        let report = run.report()
        realm.addRealmGroups(to: report)
        state.withLock { $0.report = report }
        return report
    }
}

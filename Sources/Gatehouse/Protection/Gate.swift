// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmConfiguration
internal import RealmKit

/// Decides what becomes of a request, in two halves with the login in between.
///
/// Neither half waits for anything, so that a request can be decided on an event loop as well as in a task: both go
/// through here and nowhere else.
struct Gate: Sendable {
    /// What becomes of a request.
    enum Decision: Sendable {
        /// The path is open to everybody.
        case open
        /// The user may have it.
        case allowed(AuthenticatedIdentity)
        /// The user is known, and may not: 403.
        case forbidden(AuthenticatedIdentity)
        /// Credentials are needed, or those that came were refused: 401 with a challenge for a realm.
        case challenge(realm: String, wasRefused: Bool)
        /// The request is not one that can be decided: 400.
        case malformed(String)
        /// The realm could not be asked: 503.
        case unavailable
    }

    /// The first half's outcome.
    enum Beginning: Sendable {
        /// Nothing needs to be asked. There is an entry where somebody was known from before.
        case decided(Decision, Known?)
        /// Somebody has to be logged in; the report goes to ``finish(_:_:)``.
        case login(Login)
    }

    /// A login that is to be made.
    struct Login: Sendable {
        let request: LoginRequest
        let conversation: any Conversation
        let rule: ProtectRule
        let key: VerifiedCredentials.Key?
    }

    /// Somebody whose credentials were accepted not long ago.
    struct Known: Sendable {
        let entry: VerifiedCredentials.Entry
    }

    /// Which paths are protected.
    let rules: ProtectionRules
    /// The way in.
    let authenticator: Authenticator
    private let verified: VerifiedCredentials
    private let clock: SystemClock

    /// A gate.
    ///
    /// - Parameters:
    ///   - rules: Which paths are protected.
    ///   - authenticator: The way in.
    ///   - verified: Where accepted credentials are remembered.
    ///   - clock: Tells when they were.
    init(
        rules: ProtectionRules,
        authenticator: Authenticator,
        verified: VerifiedCredentials,
        clock: SystemClock
    ) {
        self.rules = rules
        self.authenticator = authenticator
        self.verified = verified
        self.clock = clock
    }

    /// Decides what can be decided without a login.
    ///
    /// - Parameters:
    ///   - path: The request's path.
    ///   - presented: What the request's `Authorization` fields come to; not asked for where the path is open.
    ///   - peer: The address the request came from.
    /// - Returns: What is decided already, or the login that has to be made.
    func begin(_ path: RequestPath, _ presented: () -> BasicScheme.Presented, peer: String?) -> Beginning {
        guard let guarded = rules.guarded(path) else { return .decided(.open, nil) }
        let rule = guarded.rule
        switch presented() {
        case .nothing: return .decided(.challenge(realm: rule.realm, wasRefused: false), nil)
        case .unusable: return .decided(.challenge(realm: rule.realm, wasRefused: true), nil)
        case .malformed(let reason): return .decided(.malformed(reason), nil)
        case .credentials(let credentials):
            let key = verified.key(realm: rule.realm, peer: peer, credentials)
            if let key, let entry = verified.entry(key, clock.now) {
                return .decided(admit(entry.identity, isAllowed: entry.isAllowed(by: guarded)), Known(entry: entry))
            }
            guard let (username, password) = credentials.separated() else {
                return .decided(.challenge(realm: rule.realm, wasRefused: true), nil)
            }
            let request = LoginRequest(realm: rule.realm, username: username, service: "https", peer: peer)
            let conversation = PreparedConversation(name: username.text, password: password)
            return .login(Login(request: request, conversation: conversation, rule: rule, key: key))
        }
    }

    /// Decides after a login.
    ///
    /// - Parameters:
    ///   - report: How the login went.
    ///   - login: The login.
    /// - Returns: What becomes of the request.
    func finish(_ report: LoginReport, _ login: Login) -> Decision {
        switch report.decision {
        case .accepted(let identity):
            if let key = login.key, let realm = authenticator.realms[login.rule.realm] {
                let known = VerifiedCredentials.Known(
                    // As it was typed: that is what a lock is counted on.
                    account: realm.account(of: report.username),
                    username: identity.username,
                    source: report.peer.map { Source($0) }
                )
                verified.remember(key, identity, known, clock.now)
            }
            return admit(identity, isAllowed: login.rule.allows(identity))
        case .refused(let refusal):
            switch refusal.failure {
            case .unavailable: return .unavailable
            case .wrongCredentials, .unknownUser, .missingCredential, .unusableCredential, .locked, .disabled,
                .accountExpired, .credentialExpired, .permissionDenied, .internalError:
                return .challenge(realm: login.rule.realm, wasRefused: true)
            }
        }
    }

    /// Whether somebody who is known may have what the rule protects: for both lanes, and whether the login was just now
    /// or some seconds ago.
    private func admit(_ identity: AuthenticatedIdentity, isAllowed: Bool) -> Decision {
        isAllowed ? .allowed(identity) : .forbidden(identity)
    }

    /// No longer believes credentials that were accepted before.
    ///
    /// - Parameters:
    ///   - users: Whose.
    ///   - realm: The realm they live in.
    func forget(_ users: ChangedUsers, of realm: String) {
        switch users {
        case .some(let names):
            guard !names.isEmpty else { return }
            verified.forget { $0.account.realm == realm && names.contains($0.username) }
        case .all: verified.forget { $0.account.realm == realm }
        }
    }

    /// No longer believes credentials that were accepted of an account.
    func forget(_ account: Account) {
        verified.forget { $0.account == account }
    }

    /// No longer believes credentials that were accepted from an address.
    func forget(_ source: Source) {
        verified.forget { $0.source == source }
    }

    /// Makes a login, and decides after it.
    ///
    /// - Parameter login: The login.
    /// - Returns: The decision, and how the login went if it was made.
    func decide(_ login: Login) async -> (decision: Decision, report: LoginReport?) {
        do throws(RealmError) {
            let report = try await authenticator.login(login.request, asking: login.conversation)
            return (finish(report, login), report)
        } catch {
            // A rule's realm was there when the configuration was linked; without it nobody comes in.
            return (.unavailable, nil)
        }
    }
}

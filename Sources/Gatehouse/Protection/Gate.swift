// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmConfiguration
public import RealmKit

/// Decides what becomes of a request, in two halves with the login in between.
///
/// Neither half waits for anything, so that a request can be decided on an event loop as well as in a task: both go
/// through here and nowhere else.
public struct Gate: Sendable {
    /// What becomes of a request.
    public enum Decision: Sendable {
        /// The path is open to everybody.
        case open
        /// The user may have it.
        case allowed(AuthenticatedIdentity)
        /// The user is known, and may not: 403.
        case forbidden(AuthenticatedIdentity)
        /// Credentials are needed, or those that came were refused: 401 with this challenge.
        case challenge(String, wasRefused: Bool)
        /// The request is not one that can be decided: 400.
        case malformed(String)
        /// The realm could not be asked: 503.
        case unavailable
    }

    /// The first half's outcome.
    public enum Beginning: Sendable {
        /// Nothing needs to be asked.
        case decided(Decision)
        /// Somebody has to be logged in; the report goes to ``finish(_:_:)``.
        case login(LoginRequest, any Conversation, ProtectRule)
    }

    /// Which paths are protected.
    public let rules: ProtectionRules
    /// The way in.
    public let authenticator: Authenticator

    /// A gate.
    ///
    /// - Parameters:
    ///   - rules: Which paths are protected.
    ///   - authenticator: The way in.
    public init(rules: ProtectionRules, authenticator: Authenticator) {
        self.rules = rules
        self.authenticator = authenticator
    }

    /// Decides what can be decided without a login.
    ///
    /// - Parameters:
    ///   - path: The request's path.
    ///   - authorization: The values of the request's `Authorization` fields.
    ///   - peer: The address the request came from.
    /// - Returns: What is decided already, or the login that has to be made.
    public func begin(_ path: RequestPath, authorization: [String], peer: String?) -> Beginning {
        guard let rule = rules.rule(for: path) else { return .decided(.open) }
        switch BasicScheme.read(authorization) {
        case .nothing:
            return .decided(.challenge(BasicScheme.challenge(realm: rule.realm), wasRefused: false))
        case .unusable:
            return .decided(.challenge(BasicScheme.challenge(realm: rule.realm), wasRefused: true))
        case .malformed(let reason):
            return .decided(.malformed(reason))
        case .credentials(let username, let password):
            let request = LoginRequest(realm: rule.realm, username: username, service: "https", peer: peer)
            return .login(request, PreparedConversation(name: username.text, password: password), rule)
        }
    }

    /// Decides after a login.
    ///
    /// - Parameters:
    ///   - report: How the login went.
    ///   - rule: The rule it was made for.
    /// - Returns: What becomes of the request.
    public func finish(_ report: LoginReport, _ rule: ProtectRule) -> Decision {
        switch report.decision {
        case .accepted(let identity):
            return rule.allows(identity) ? .allowed(identity) : .forbidden(identity)
        case .refused(let refusal):
            switch refusal.failure {
            case .unavailable: return .unavailable
            case .wrongCredentials, .unknownUser, .missingCredential, .unusableCredential, .locked, .disabled,
                .accountExpired, .credentialExpired, .permissionDenied, .internalError:
                return .challenge(BasicScheme.challenge(realm: rule.realm), wasRefused: true)
            }
        }
    }

    /// Decides, logging somebody in if need be.
    ///
    /// - Parameters:
    ///   - path: The request's path.
    ///   - authorization: The values of the request's `Authorization` fields.
    ///   - peer: The address the request came from.
    /// - Returns: The decision, and how the login went if there was one.
    public func decide(
        _ path: RequestPath,
        authorization: [String],
        peer: String?
    ) async -> (decision: Decision, report: LoginReport?) {
        switch begin(path, authorization: authorization, peer: peer) {
        case .decided(let decision): return (decision, nil)
        case .login(let request, let conversation, let rule):
            do throws(RealmError) {
                let report = try await authenticator.login(request, asking: conversation)
                return (finish(report, rule), report)
            } catch {
                // A rule's realm was there when the configuration was linked; without it nobody comes in.
                return (.unavailable, nil)
            }
        }
    }
}

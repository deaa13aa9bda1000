// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// A login in one of several realms, in order: the first that accepts decides.
struct SignInAttempt: Sendable {
    /// What came of it.
    enum Outcome: Sendable {
        /// A realm has accepted.
        case accepted(AuthenticatedIdentity, LoginReport)
        /// All have refused; how the last one did.
        case refused(LoginReport?)
        /// None has accepted, and one of them could not be asked.
        case unavailable(LoginReport?)
    }

    let outcome: Outcome

    /// Asks realms until one accepts.
    ///
    /// - Parameters:
    ///   - authenticator: The way in.
    ///   - realms: The realms' names.
    ///   - username: Who somebody wants to be.
    ///   - address: Where the request came from.
    ///   - conversation: The other end; asked by each realm.
    /// - Returns: What came of it.
    static func make(
        _ authenticator: Authenticator,
        _ realms: [String],
        _ username: Username,
        address: String?,
        asking conversation: any Conversation
    ) async -> SignInAttempt {
        var unavailable: LoginReport??
        var last: LoginReport?
        for realm in realms {
            let request = LoginRequest(realm: realm, username: username, service: "https", peer: address)
            do throws(RealmError) {
                let report = try await authenticator.login(request, asking: conversation)
                switch report.decision {
                case .accepted(let identity): return SignInAttempt(outcome: .accepted(identity, report))
                case .refused(let refusal):
                    if refusal.failure == .unavailable { unavailable = .some(report) }
                    last = report
                }
            } catch {
                // A rule's realm was there when the configuration was linked; without it nobody comes in.
                unavailable = .some(last)
            }
        }
        if let report = unavailable { return SignInAttempt(outcome: .unavailable(report)) }
        return SignInAttempt(outcome: .refused(last))
    }
}

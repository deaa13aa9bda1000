// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import RealmKit

/// The result of a login in the first of several realms that accepts, for pages, the session API and rules.
package struct RealmLogin: Sendable {
    /// The result.
    package enum Outcome: Sendable {
        /// A realm accepted.
        case accepted(AuthenticatedIdentity, LoginReport)
        /// All realms rejected; the report is that of the last one.
        case rejected(LoginReport?)
        /// No realm accepted, and one of them was unavailable.
        case unavailable(LoginReport?)
    }

    /// The result.
    package let outcome: Outcome

    /// Logs a user in.
    ///
    /// - Parameters:
    ///   - authenticator: Logs users in.
    ///   - realms: The names of the realms, in order.
    ///   - username: The user name.
    ///   - address: The client's address.
    ///   - conversation: Answers the callbacks of each realm.
    /// - Returns: The result.
    package static func make(
        with authenticator: Authenticator,
        in realms: [String],
        as username: Username,
        address: String?,
        asking conversation: any Conversation
    ) async -> RealmLogin {
        let report: RealmsReport
        do throws(RealmError) {
            report = try await authenticator.login(
                as: username,
                inFirstOf: realms,
                service: "https",
                peer: address,
                asking: conversation
            )
        } catch {
            // The realm existed when the configuration was linked. Without it no login is possible.
            return RealmLogin(outcome: .unavailable(nil))
        }
        if let identity = report.identity, let decisive = report.decisive {
            return RealmLogin(outcome: .accepted(identity, decisive))
        }
        return RealmLogin(outcome: report.isUnavailable ? .unavailable(report.decisive) : .rejected(report.decisive))
    }
}

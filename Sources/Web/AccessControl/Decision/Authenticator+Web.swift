// SPDX-License-Identifier: Apache-2.0

package import RealmKit

extension Authenticator {
    /// Logs in a user of access rules, the sign-in pages or the session API.
    ///
    /// The configuration was checked, so all realms exist. If a realm does not exist, the login is reported as
    /// unavailable.
    ///
    /// - Parameters:
    ///   - username: The user name.
    ///   - realms: The names of the realms, in order.
    ///   - whenUnavailable: Whether the next realm is used if a realm is unavailable.
    ///   - address: The client's address.
    ///   - conversation: The conversation that answers the callbacks of all realms.
    /// - Returns: The outcome of the first realm that accepts. If no realm accepts, the combined outcome of all realms.
    package func loginOnWeb(
        as username: Username,
        inFirstOf realms: [String],
        whenUnavailable: WhenUnavailable,
        address: String?,
        asking conversation: any Conversation
    ) async -> MultiRealmLoginReport.Outcome {
        do throws(RealmError) {
            return try await login(
                as: username,
                inFirstOf: realms,
                whenUnavailable: whenUnavailable,
                service: "https",
                peer: address,
                asking: conversation
            ).outcome
        } catch {
            return .unavailable(nil)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import RealmKit

extension Authenticator {
    /// Logs a user of the web in: for access rules, the sign-in pages and the session API.
    ///
    /// A name without a realm makes the login unavailable: the realm existed when the configuration was linked.
    ///
    /// - Parameters:
    ///   - username: The user name.
    ///   - realms: The names of the realms, in order.
    ///   - address: The client's address.
    ///   - conversation: Answers the callbacks of each realm.
    /// - Returns: The outcome in the first realm that accepts, or of all.
    package func loginOnWeb(
        as username: Username,
        inFirstOf realms: [String],
        address: String?,
        asking conversation: any Conversation
    ) async -> MultiRealmLoginReport.Outcome {
        do throws(RealmError) {
            return try await login(
                as: username,
                inFirstOf: realms,
                service: "https",
                peer: address,
                asking: conversation
            ).outcome
        } catch {
            return .unavailable(nil)
        }
    }
}

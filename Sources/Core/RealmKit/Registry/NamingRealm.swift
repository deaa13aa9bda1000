// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A realm that uses other realms of the configuration, and knows the names of its users there.
///
/// If a user of another realm changes, exactly the users of this realm with that name there have to be authenticated
/// again.
package protocol NamingRealm: RefreshingRealm {
    /// Returns the names of a user in another realm.
    ///
    /// - Parameters:
    ///   - user: The user's name in this realm.
    ///   - other: A realm that this realm uses directly.
    /// - Returns: The names under which this realm asks the other realm for the user.
    func names(of user: Username, in other: BoundRealm) -> [Username]
}

extension BoundRealm {
    /// Returns whether a change of users of another realm concerns a user of this realm.
    ///
    /// - Parameters:
    ///   - user: The user's name in this realm.
    ///   - names: The changed users of the other realm.
    ///   - other: The name of the other realm.
    /// - Returns: True if this realm, or a realm that it uses, asks the other realm for one of these users.
    package func isConcerned(_ user: Username, by names: Set<Username>, of other: String) -> Bool {
        if name.hasBytes(of: other) { return names.contains(user) }
        return nested.contains { used in
            guard used.name.hasBytes(of: other) || used.allNested.contains(where: { $0.name.hasBytes(of: other) })
            else {
                return false
            }
            // A realm that does not tell the names may use any name.
            guard let naming = realm as? any NamingRealm else { return true }
            return naming.names(of: user, in: used).contains { used.isConcerned($0, by: names, of: other) }
        }
    }
}

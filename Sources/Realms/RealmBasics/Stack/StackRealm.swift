// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A realm whose users belong to other services.
///
/// The modules of its login.conf entry authenticate these users. The realm does not store users.
///
/// Property: `jaas-context`, which is required.
public struct StackRealm: Realm {
    /// The property `jaas-context`, which is required.
    public static let properties: PropertySchema = [.required("jaas-context")]

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String

    /// The authentication type `Stack`.
    public var authType: String { "Stack" }

    /// Creates the realm.
    ///
    /// - Parameter properties: The property `jaas-context`.
    /// - Throws: ``BadRealm`` if `jaas-context` is not set.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
    }
}

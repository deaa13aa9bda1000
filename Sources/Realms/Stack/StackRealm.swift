// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// A realm without users of its own: the modules of its login.conf entry authenticate users of other services.
///
/// Properties: `jaas-context`, which must be set.
public struct StackRealm: Realm {
    /// `jaas-context`, which must be set.
    public static let properties: PropertySchema = [.required("jaas-context")]

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String

    /// `Stack`.
    public var authType: String { "Stack" }

    /// Creates the realm.
    ///
    /// - Parameter properties: `jaas-context`.
    /// - Throws: ``BadRealm`` if it is not set.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
    }
}

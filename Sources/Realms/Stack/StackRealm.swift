// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// A realm that is nothing but its stack: its users live wherever the modules of its login.conf entry look for them.
///
/// Properties: `jaas-context`, which must be set.
public struct StackRealm: Realm {
    /// `jaas-context`, which must be set.
    public static let properties: PropertySchema = [.required("jaas-context")]

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String

    /// `Stack`.
    public var authType: String { "Stack" }

    /// Makes the realm.
    ///
    /// - Parameter properties: `jaas-context`.
    /// - Throws: ``BadRealm`` when it is not set.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
    }
}

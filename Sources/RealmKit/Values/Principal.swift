// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// One name that somebody is known by after a login: as a user, as a member of a group, in a role.
///
/// Two principals are the same when kind and name are. Source: `java.security.Principal` and the user, group and role
/// principals that GlassFish and Tomcat derive from it.
public struct Principal: Sendable, Hashable, CustomStringConvertible {
    /// What a principal's name names.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The person or program itself.
        case user
        /// A group of the realm.
        case group
        /// A role of the application, mapped from users and groups.
        case role
    }

    /// What the name names.
    public let kind: Kind
    /// The name, as the realm spells it.
    public let name: String

    /// A principal of some kind.
    ///
    /// - Parameters:
    ///   - kind: What the name names.
    ///   - name: The name, as the realm spells it.
    public init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }

    /// A user principal.
    ///
    /// - Parameter name: The name, as the realm spells it.
    /// - Returns: The principal.
    public static func user(_ name: String) -> Principal { Principal(.user, name) }

    /// A group principal.
    ///
    /// - Parameter name: The name, as the realm spells it.
    /// - Returns: The principal.
    public static func group(_ name: String) -> Principal { Principal(.group, name) }

    /// A role principal.
    ///
    /// - Parameter name: The name, as the application spells it.
    /// - Returns: The principal.
    public static func role(_ name: String) -> Principal { Principal(.role, name) }

    /// Whether kind and name are the same, byte by byte: two spellings that Unicode holds for the same are two names.
    public static func == (left: Principal, right: Principal) -> Bool {
        left.kind == right.kind && left.name.utf8.elementsEqual(right.name.utf8)
    }

    /// Hashes kind and bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        for byte in name.utf8 { hasher.combine(byte) }
    }

    /// Kind and name, as in `group User`.
    public var description: String { "\(kind.rawValue) \(name)" }
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A name that identifies a subject after a login: a user, a group or a role.
///
/// Two principals are equal if their kinds and their names are equal. Source: `java.security.Principal` and the user,
/// group and role principals that GlassFish and Tomcat derive from it.
public struct Principal: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of names.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A user: a person or a program.
        case user
        /// A group of the realm.
        case group
        /// A role of the application, mapped from users and groups.
        case role
    }

    /// The kind of the name.
    public let kind: Kind
    /// The name, as the realm spells it.
    public let name: String

    /// Creates a principal.
    public init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }

    /// Returns a user principal.
    public static func user(_ name: String) -> Principal { Principal(.user, name) }

    /// Returns a group principal.
    public static func group(_ name: String) -> Principal { Principal(.group, name) }

    /// Returns a role principal.
    public static func role(_ name: String) -> Principal { Principal(.role, name) }

    /// Compares kind and bytes: two names that are canonically equivalent in Unicode but differ in bytes are different.
    public static func == (left: Principal, right: Principal) -> Bool {
        left.kind == right.kind && left.name.hasBytes(of: right.name)
    }

    /// Hashes the kind and the bytes of the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        name.hashBytes(into: &hasher)
    }

    /// The kind and the name, as in `group User`.
    public var description: String { "\(kind.rawValue) \(name)" }
}

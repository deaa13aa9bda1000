// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The result of a login: the principals and attributes of every module that committed, and the groups that the realm
/// assigns.
///
/// A subject records which module added which principals, so that a logout removes exactly the principals of its
/// modules. Only the engine adds principals; an application may start with a subject of its own principals.
///
/// Source: `javax.security.auth.Subject`; `assign-groups` and `group-mapping` of GlassFish.
public struct Subject: Sendable {
    private struct Part {
        let module: Int?
        let principals: [Principal]
        var attributes: [UserAttribute] = []
    }

    private var parts: [Part]

    /// Creates a subject with the given principals; a logout does not remove them.
    public init(_ principals: [Principal] = []) { parts = [Part(module: nil, principals: principals)] }

    /// All principals, each once: the given ones, those of each module in order, and the groups of the realm.
    public var principals: [Principal] {
        var seen: Set<Principal> = []
        return parts.flatMap(\.principals).filter { seen.insert($0).inserted }
    }

    /// The names of all groups, each once, in the order of ``principals``.
    public var groups: [String] { names(.group) }
    /// The names of all user principals, each once, in the order of ``principals``.
    public var users: [String] { names(.user) }

    /// The attributes, each name once; values of several modules are in the order of the modules, each once.
    public var attributes: [UserAttribute] {
        var all: [UserAttribute] = []
        for part in parts { all.merge(part.attributes) }
        return all
    }

    /// Returns whether the subject is a member of a group.
    public func isMember(of group: String) -> Bool {
        parts.contains { $0.principals.contains(.group(group)) }
    }

    private func names(_ kind: Principal.Kind) -> [String] { principals.filter { $0.kind == kind }.map(\.name) }

    mutating func add(_ principals: [Principal], attributes: [UserAttribute] = [], from module: Int?) {
        parts.append(Part(module: module, principals: principals, attributes: attributes))
    }

    mutating func remove(module: Int) { parts.removeAll { $0.module == module } }

    mutating func removeModules() { parts.removeAll { $0.module != nil } }

    mutating func merge(_ other: Subject) { parts += other.parts }
}

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

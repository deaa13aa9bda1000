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

    private func names(_ kind: Principal.Kind) -> [String] {
        parts.flatMap { $0.principals.lazy.filter { $0.kind == kind }.map(\.name) }.uniqued
    }

    mutating func add(_ principals: [Principal], attributes: [UserAttribute] = [], from module: Int?) {
        parts.append(Part(module: module, principals: principals, attributes: attributes))
    }

    mutating func remove(module: Int) { parts.removeAll { $0.module == module } }

    mutating func removeModules() { parts.removeAll { $0.module != nil } }

    mutating func merge(_ other: Subject) { parts += other.parts }
}

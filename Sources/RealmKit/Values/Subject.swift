// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Whom a login has established: the principals of every module that committed, and the groups its realm assigns.
///
/// A subject remembers which module gave what, so that a logout can take back exactly that. Only the engine adds to one;
/// an application may begin with a subject of its own principals.
///
/// Source: `javax.security.auth.Subject`; `assign-groups` and `group-mapping` are GlassFish's.
public struct Subject: Sendable {
    private var parts: [(module: Int?, principals: [Principal])]

    /// A subject with nothing but these principals, which no logout removes.
    ///
    /// - Parameter principals: What is known of somebody before a login.
    public init(_ principals: [Principal] = []) {
        parts = [(nil, principals)]
    }

    /// Every principal once, in the order in which they came: given ones, each module's, assigned groups.
    public var principals: [Principal] {
        var seen: Set<Principal> = []
        return parts.flatMap(\.principals).filter { seen.insert($0).inserted }
    }

    /// The names of all groups, each once.
    public var groups: [String] { names(.group) }

    /// The names of all users this subject is known as, each once.
    public var users: [String] { names(.user) }

    /// Whether the subject is a member of a group.
    ///
    /// - Parameter group: The group's name; upper and lower case differ.
    /// - Returns: True if one of the principals is that group.
    public func isMember(of group: String) -> Bool {
        parts.contains { $0.principals.contains(.group(group)) }
    }

    private func names(_ kind: Principal.Kind) -> [String] {
        principals.filter { $0.kind == kind }.map(\.name)
    }

    mutating func add(_ principals: [Principal], from module: Int?) {
        parts.append((module, principals))
    }

    mutating func remove(module: Int) {
        parts.removeAll { $0.module == module }
    }

    mutating func removeModules() {
        parts.removeAll { $0.module != nil }
    }

    mutating func merge(_ other: Subject) {
        parts += other.parts
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Proof that a stack has accepted somebody.
///
/// There is no public way to make one: a value of this type in hand means that the engine has walked the stack of a realm
/// and the walk has granted.
public struct AuthenticatedIdentity: Sendable {
    let record: LoginRecord
    // Groups that the realm adds to what its modules have committed.
    let following: [String]

    /// The name of the realm the user lives in.
    public var realm: String { record.request.realm }
    /// The user, as the first module that named one spells it.
    public var username: Username { record.establishedName }
    /// What was signed in to.
    public var service: String { record.request.service }

    /// All principals: users, groups, roles.
    public var subject: Subject {
        var subject = record.subject
        subject.add(following.map(Principal.group), from: nil)
        return subject
    }

    /// The names of all groups, each once.
    public var groups: [String] { subject.groups }

    /// Whether the user is a member of a group.
    ///
    /// - Parameter group: The group's name; upper and lower case differ.
    /// - Returns: True if a module has committed the group, or the realm assigns it.
    public func isMember(of group: String) -> Bool {
        following.contains { $0.utf8.elementsEqual(group.utf8) } || record.isMember(of: group)
    }
}

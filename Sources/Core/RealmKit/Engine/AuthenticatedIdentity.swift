// SPDX-License-Identifier: Apache-2.0

/// Proof that a realm's stack has accepted a user.
///
/// It has no public initializer: a value of this type exists only if the engine has evaluated the stack and granted the
/// login.
public struct AuthenticatedIdentity: Sendable {
    let record: LoginRecord
    // The groups of `assign-groups` and `group-mapping`, in addition to the groups that the modules committed.
    let derivedGroups: [String]

    /// The name of the realm that accepted the user.
    public var realm: String { record.request.realm }
    /// The user name, as spelled by the first module that committed a name.
    public var username: Username { record.establishedName }
    /// The service that the user signed in to.
    public var service: String { record.request.service }

    /// All principals: users, groups, roles.
    public var subject: Subject {
        var subject = record.subject
        subject.add(derivedGroups.map(Principal.group), from: nil)
        return subject
    }

    /// The names of all groups, each once.
    public var groups: [String] { subject.groups }

    /// The user's attributes, each name once.
    public var attributes: [UserAttribute] { record.attributes }

    /// Returns whether the user is a member of a group.
    ///
    /// - Parameter group: The group's name, compared byte by byte.
    /// - Returns: True if a module has committed the group, or the realm assigns it.
    public func isMember(of group: String) -> Bool {
        derivedGroups.contains { $0.utf8.elementsEqual(group.utf8) } || record.isMember(of: group)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A realm whose groups can be looked up by their names, for example by `gatehouse check`.
public protocol GroupLookupRealm: Realm {
    /// Returns the name of a group in the spelling that the realm's users have.
    ///
    /// Where a name has several spellings, such as a distinguished name, users and rules have the same one. Names of
    /// different groups must stay different. The default returns the name.
    ///
    /// - Throws: ``BadValue`` if no group of the realm can have the name.
    func groupName(_ name: String) throws(BadValue) -> String

    /// Returns those of some groups that exist, by the names that ``groupName(_:)`` returns.
    ///
    /// Others may be among them, which are suggested in place of a name that does not exist.
    ///
    /// - Throws: ``RealmError`` of code `unavailable`, or `invalidOperation` if the realm is configured so that it cannot
    ///   look groups up.
    func existingGroups(_ names: [String]) async throws(RealmError) -> [String]
}

extension GroupLookupRealm {
    /// Returns the name.
    public func groupName(_ name: String) throws(BadValue) -> String { name }
}

extension BoundRealm {
    /// True if users have no other groups than those that the realm can look up, and those of its configuration.
    package var knowsAllGroups: Bool { realm is any GroupLookupRealm && stack.entries.count == 1 }

    /// Returns whether users have a group by `assign-groups` or `group-mapping`.
    package func configures(group name: String) -> Bool {
        assignedGroups.contains { $0.hasBytes(of: name) } || groupMapping.hasTarget(name)
    }

    /// Returns the spellings, each once, that a group of a rule has for the users of this realm and of the realms that it
    /// uses; throws if no user can have a group of this name.
    package func spellings(ofGroup name: String) throws(BadValue) -> [String] {
        var names = knowsAllGroups && !configures(group: name) ? [] : [name]
        if let realm = realm as? any GroupLookupRealm {
            do throws(BadValue) {
                names.append(try realm.groupName(name))
            } catch {
                guard !names.isEmpty else { throw error }
            }
        }
        // A name that the other realm cannot have needs no spelling there.
        for other in nested { names += (try? other.spellings(ofGroup: name)) ?? [] }
        return names.uniqued
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import LoginConf
internal import RealmConfiguration
internal import RealmKit

/// The groups of rules and roles that do not exist.
enum UnknownGroups {
    /// Returns a warning for each group that no user of its realms can be in.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - connects: False to look up the groups only of realms that ask no other system.
    /// - Returns: The warnings. There is none for a group of a realm that cannot look groups up, or has none yet.
    static func warnings(_ configuration: Configuration, connects: Bool) async -> [Diagnostic] {
        var known: [String: [String]] = [:]
        for realm in configuration.realms where connects || !type(of: realm.realm).dependsOnOtherSystems {
            known[realm.name] = await existing(configuration.requiredGroups, in: realm)
        }
        return configuration.requiredGroups.compactMap { group in
            let (name, realms) = (group.name, group.realms)
            let found = realms.compactMap { known[$0.name] }
            guard !realms.isEmpty, found.count == realms.count,
                !realms.contains(where: { mayHave(name, in: $0, of: known[$0.name] ?? []) })
            else { return nil }
            let asksOthers = realms.contains { type(of: $0.realm).dependsOnOtherSystems }
            let spellings = realms.flatMap { (try? $0.spellings(ofGroup: name)) ?? [] } + [name]
            let nearest = spellings.lazy.compactMap { NearestName.suggest($0, among: found.flatMap(\.self)) }.first
            let other = asksOthers ? "a group that the realm may not read is not found" : "or put a user into the group"
            return group.warning(
                "no user of realm \(realms.map(\.name).joined(separator: ", ")) is in \(GroupName.list([name]))",
                hint: nearest.map { "did you mean \(GroupName.list([$0]))?" } ?? "correct the name; \(other)"
            )
        }
    }

    /// Returns the groups that exist in a realm; nil if they are not known.
    private static func existing(
        _ groups: [Located<Configuration.RequiredGroup>],
        in bound: BoundRealm
    ) async -> [String]? {
        let own = groups.filter { group in group.realms.contains { $0.name.hasBytes(of: bound.name) } }
        let names = own.map { $0.name }
        guard !names.isEmpty, bound.knowsAllGroups, let realm = bound.realm as? any GroupLookupRealm else { return nil }
        let spelled = names.flatMap { (try? bound.spellings(ofGroup: $0)) ?? [] }
        do throws(RealmError) {
            let found = try await realm.existingGroups(spelled)
            // The users of a new store come later.
            return found.isEmpty && !type(of: realm).dependsOnOtherSystems ? nil : found
        } catch {
            return nil
        }
    }

    /// Returns whether users of a realm can be in a group; true for a name that loading has warned about.
    private static func mayHave(_ name: String, in realm: BoundRealm, of existing: [String]) -> Bool {
        do throws(BadValue) {
            let spellings = try realm.spellings(ofGroup: name)
            return realm.configures(group: name)
                || spellings.contains { spelling in existing.contains { $0.hasBytes(of: spelling) } }
        } catch {
            return true
        }
    }
}

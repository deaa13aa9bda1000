// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import RealmKit

/// Users of a realm of whom one is in each class that the requirements of rules can tell apart.
///
/// A requirement lists alternatives, and groups and attributes only add to them, so a user with one of them is enough.
struct SampleUsers {
    struct Sample {
        let name: String
        var group: String?
        var attribute: [String] = []

        /// The user in a realm, with all groups; nil for names that no user can have.
        func user(in realm: BoundRealm) -> SignedInUser? {
            guard let username = try? Username(name) else { return nil }
            let groups = (group.map { [$0] } ?? []) + realm.assignedGroups
            let attributes =
                attribute.count == 2 ? [try? UserAttribute(name: attribute[0], values: [attribute[1]])] : []
            return SignedInUser(
                realm: realm.name,
                username: username,
                groups: groups + realm.groupMapping.derivedGroups(from: groups),
                attributes: attributes.compactMap(\.self)
            )
        }

        func isAllowed(by rule: ProtectRule, in realm: BoundRealm) -> Bool {
            user(in: realm).map { rule.allows($0) } ?? false
        }

        func difference(
            in realm: String,
            by scheme: ProtectRule.Scheme,
            _ reason: OneWayComparison.Reason
        ) -> AccessDifference.User {
            AccessDifference.User(
                realm: realm,
                name: name,
                group: group,
                attribute: attribute,
                scheme: scheme.rawValue,
                answers: reason.answers,
                condition: reason.condition
            )
        }
    }

    let all: [Sample]

    init(_ rules: [ProtectRule], realm: String, models: [AccessModel]) {
        var (names, groups, attributes): ([String], [String], [[String]]) = ([], [], [])
        for requirement in rules.flatMap(\.requirements) {
            switch requirement {
            case .any: break
            case .users(let users): names += users
            case .groups(let own): groups += own
            case .roles(let roles):
                names += roles.flatMap(\.users)
                groups += roles.flatMap(\.groups)
            case .attribute(let name, let values): attributes += values.map { [name, $0] }
            }
        }
        groups += models.compactMap { $0.realms[realm] }.flatMap { $0.groupMapping.sources.sorted() }
        var other = "someone"
        while names.contains(other) { other += "1" }
        all =
            [Sample(name: other)] + names.map { Sample(name: $0) } + groups.map { Sample(name: other, group: $0) }
            + attributes.map { Sample(name: other, attribute: $0) }
    }
}

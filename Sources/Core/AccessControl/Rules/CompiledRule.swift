// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import RealmKit

extension ProtectionRules {
    /// A rule as an object, with tables of its names; rules are compared by identity, which is faster than by content.
    package final class CompiledRule: Sendable {
        package let rule: ProtectRule
        /// The realms of the rule in the messages of the credential cache.
        let realmField: RealmField
        private let realms: NameSet
        private let networks: CIDRSet
        private let requirements: [Requirement]

        init(_ rule: ProtectRule) {
            self.rule = rule
            realmField = RealmField(rule.realms, rule.whenUnavailable)
            realms = NameSet(rule.realms)
            networks = CIDRSet(rule.networks)
            requirements = rule.requirements.map { Requirement($0) }
        }

        func matches(_ method: String) -> Bool { rule.methods.isEmpty || rule.matches(method: method) }

        /// As ``ProtectRule/matches(peer:)``.
        func matches(peer: String?) -> Bool {
            guard !networks.isEmpty else { return true }
            guard let peer, let address = NetworkAddress(peer[...]) else { return false }
            return networks.contains(address)
        }

        func hasRealm(_ name: String) -> Bool { realms.contains(name) }

        /// As ``ProtectRule/allows(_:)``, in a time that does not depend on the numbers of realms and names.
        func allows(_ user: SignedInUser) -> Bool {
            switch rule.access {
            case .open: true
            case .nobody: false
            case .users: hasRealm(user.realm) && requirements.contains { $0.isMet(by: user) }
            }
        }
    }
}

/// A requirement with tables of its names.
private enum Requirement: Sendable {
    case any
    case users(NameSet)
    case groups(NameSet)
    case roles([Role])
    case attribute(String, NameSet)

    struct Role: Sendable {
        let realms: NameSet
        let groups: NameSet
        let users: NameSet

        func isHeld(by user: SignedInUser) -> Bool {
            guard realms.isEmpty || realms.contains(user.realm) else { return false }
            return users.contains(user.username.text) || groups.containsGroup(of: user)
        }
    }

    init(_ requirement: ProtectRule.Requirement) {
        switch requirement {
        case .any: self = .any
        case .users(let names): self = .users(NameSet(names))
        case .groups(let names): self = .groups(NameSet(names))
        case .roles(let roles):
            self = .roles(
                roles.map {
                    Role(realms: NameSet($0.realms), groups: NameSet($0.groups), users: NameSet($0.users))
                }
            )
        case .attribute(let name, let values): self = .attribute(name, NameSet(values))
        }
    }

    func isMet(by user: SignedInUser) -> Bool {
        switch self {
        case .any: true
        case .users(let names): names.contains(user.username.text)
        case .groups(let names): names.containsGroup(of: user)
        case .roles(let roles): roles.contains { $0.isHeld(by: user) }
        case .attribute(let name, let values): user.attributes.values(of: name).contains { values.contains($0) }
        }
    }
}

extension ProtectRule.Requirement {
    /// Returns whether a user meets the requirement.
    package func isMet(by user: SignedInUser) -> Bool { Requirement(self).isMet(by: user) }
}

/// Names that are looked up byte by byte, in a time that does not depend on their number.
struct NameSet: Sendable {
    private let names: Set<UTF8Text>

    init(_ names: [String]) { self.names = Set(names.map { UTF8Text($0) }) }

    var isEmpty: Bool { names.isEmpty }

    func contains(_ name: String) -> Bool { names.contains(UTF8Text(name)) }

    func containsGroup(of user: SignedInUser) -> Bool {
        names.count <= user.groups.count
            ? names.contains { user.isMember(of: $0.string) } : user.groups.contains { contains($0) }
    }
}

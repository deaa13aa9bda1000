// SPDX-License-Identifier: Apache-2.0

internal import Bytes
public import RealmKit

extension ProtectionRules {
    /// A rule as an object, with tables of its names; rules are compared by identity, which is faster than by content.
    package final class CompiledRule: Sendable {
        package let rule: ProtectRule
        /// The realms of the rule in the messages of the credential cache.
        let realmField: RealmField
        private let realms: NameSet
        private let networks: CIDRSet
        private let requirements: [@Sendable (SignedInUser) -> Bool]

        init(_ rule: ProtectRule) {
            self.rule = rule
            realmField = RealmField(rule.realms, rule.whenUnavailable)
            realms = NameSet(rule.realms)
            networks = CIDRSet(rule.networks)
            requirements = rule.requirements.map(\.check)
        }

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
            case .users: hasRealm(user.realm) && requirements.contains { $0(user) }
            }
        }
    }
}

extension ProtectRule {
    /// Returns whether the rule allows all requests, or the user belongs to one of its realms and meets one of its
    /// requirements; names are compared byte by byte.
    public func allows(_ user: SignedInUser) -> Bool { ProtectionRules.CompiledRule(self).allows(user) }

    /// Returns whether the rule applies to a method: it names the method, or none; GET includes HEAD (RFC 9110 section 9.3.2).
    public func matches(method: String) -> Bool {
        methods.isEmpty || methods.contains { $0.hasBytes(of: method) }
            || method.hasBytes(of: "HEAD") && methods.contains("GET")
    }

    /// Returns whether an address is in a network of the rule, or the rule names none; a text that is not an address is in
    /// no network.
    public func matches(peer: String?) -> Bool {
        guard !networks.isEmpty else { return true }
        guard let address = peer.flatMap({ NetworkAddress($0[...]) }) else { return false }
        return networks.contains { $0.contains(address) }
    }
}

extension ProtectRule.Requirement {
    /// Returns the check of a user, with tables of the names, which the caller keeps.
    package var check: @Sendable (SignedInUser) -> Bool {
        switch self {
        case .any: return { _ in true }
        case .users(let names):
            let names = NameSet(names)
            return { names.contains($0.username.text) }
        case .groups(let names):
            let names = NameSet(names)
            return { names.containsGroup(of: $0) }
        case .roles(let roles):
            let checks = roles.map(\.check)
            return { user in checks.contains { $0(user) } }
        case .attribute(let name, let values):
            let values = NameSet(values)
            return { user in user.attributes.values(of: name).contains { values.contains($0) } }
        }
    }
}

extension Role {
    fileprivate var check: @Sendable (SignedInUser) -> Bool {
        let (realms, groups, users) = (NameSet(realms), NameSet(groups), NameSet(users))
        return { user in
            guard realms.isEmpty || realms.contains(user.realm) else { return false }
            return users.contains(user.username.text) || groups.containsGroup(of: user)
        }
    }
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

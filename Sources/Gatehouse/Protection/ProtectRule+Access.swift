// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmConfiguration
public import RealmKit

/// Somebody a rule can decide about: whoever has just proved who they are, and whoever did when their session began.
///
/// Rules ask, so that neither has to make lists for them.
private protocol RuleUser {
    var realm: String { get }
    var username: Username { get }
    func isMember(of group: String) -> Bool
}

extension AuthenticatedIdentity: RuleUser {}
extension SignedInUser: RuleUser {}

extension ProtectRule {
    /// Whether somebody who is signed in may come in.
    ///
    /// - Parameter user: Who it is.
    /// - Returns: True if the rule lets everybody in, or one of its realms has accepted the user, who meets one of its
    ///   requirements.
    public func allows(_ user: SignedInUser) -> Bool { admits(user) }

    /// Whether somebody who has just signed in may come in.
    ///
    /// - Parameter identity: Who it is.
    /// - Returns: True if the rule lets everybody in, or one of its realms has accepted the user, who meets one of its
    ///   requirements.
    public func allows(_ identity: AuthenticatedIdentity) -> Bool { admits(identity) }

    /// Whether the rule is about a method; one about GET is about HEAD too (RFC 9110 section 9.3.2).
    ///
    /// - Parameter method: The method of a request; upper and lower case differ.
    /// - Returns: True if it is one of the rule's, or the rule names none.
    public func covers(method: String) -> Bool {
        methods.isEmpty || methods.contains { $0.hasBytes(of: method) }
            || method == "HEAD" && methods.contains("GET")
    }

    /// Whether requests may come from an address.
    ///
    /// - Parameter peer: An address as text; it is read only if the rule names networks.
    /// - Returns: True if it is in one of the rule's networks, or the rule names none; what is no address is in none.
    public func covers(peer: String?) -> Bool {
        networks.isEmpty || covers(peer.flatMap { NetworkAddress($0[...]) })
    }

    /// Whether requests may come from an address; nil is one that cannot be read.
    package func covers(_ address: NetworkAddress?) -> Bool {
        guard !networks.isEmpty else { return true }
        guard let address else { return false }
        return networks.contains { $0.contains(address) }
    }

    private func admits(_ user: some RuleUser) -> Bool {
        switch access {
        case .open: true
        case .nobody: false
        case .users: realms.contains(bytesOf: user.realm) && requirements.contains { $0.isMet(by: user) }
        }
    }
}

extension ProtectRule.Requirement {
    fileprivate func isMet(by user: some RuleUser) -> Bool {
        switch self {
        case .any: true
        case .users(let names): names.contains(bytesOf: user.username.text)
        case .groups(let names): names.contains { user.isMember(of: $0) }
        case .roles(let roles): roles.contains { $0.isHeld(by: user) }
        }
    }
}

extension Role {
    fileprivate func isHeld(by user: some RuleUser) -> Bool {
        guard realms.isEmpty || realms.contains(bytesOf: user.realm) else { return false }
        return users.contains(bytesOf: user.username.text) || groups.contains { user.isMember(of: $0) }
    }
}

extension [String] {
    /// Byte by byte: two spellings that Unicode holds for the same are two names, as they are in a ``Username``.
    fileprivate func contains(bytesOf name: String) -> Bool {
        contains { $0.hasBytes(of: name) }
    }
}

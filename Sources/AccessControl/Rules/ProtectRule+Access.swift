// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
public import RealmConfiguration
public import RealmKit

/// A user about whom a rule can decide: a newly authenticated one, or the user of an existing session.
///
/// Group membership is a method, so that neither type has to build a list of its groups.
private protocol RuleUser {
    var realm: String { get }
    var username: Username { get }
    func isMember(of group: String) -> Bool
}

extension AuthenticatedIdentity: RuleUser {}
extension SignedInUser: RuleUser {}

extension ProtectRule {
    /// Returns whether the rule allows a signed-in user.
    ///
    /// - Parameter user: The user.
    /// - Returns: True if the rule allows all requests, or if one of its realms has accepted the user and the user
    ///   meets one of its requirements.
    public func allows(_ user: SignedInUser) -> Bool { admits(user) }

    /// Returns whether the rule allows a newly authenticated user.
    ///
    /// - Parameter identity: The identity of the user.
    /// - Returns: True if the rule allows all requests, or if one of its realms has accepted the user and the user
    ///   meets one of its requirements.
    public func allows(_ identity: AuthenticatedIdentity) -> Bool { admits(identity) }

    /// Returns whether the rule applies to a method; a rule for GET applies to HEAD too (RFC 9110 section 9.3.2).
    ///
    /// - Parameter method: The method of a request; upper and lower case differ.
    /// - Returns: True if the method is one of the rule's, or if the rule names none.
    public func matches(method: String) -> Bool {
        methods.isEmpty || methods.contains { $0.hasBytes(of: method) }
            || method.hasBytes(of: "HEAD") && methods.contains("GET")
    }

    /// Returns whether the rule accepts requests from an address.
    ///
    /// - Parameter peer: An address as text; it is read only if the rule names networks.
    /// - Returns: True if the address is in one of the rule's networks, or if the rule names none. A text that is not
    ///   an address is in no network.
    public func matches(peer: String?) -> Bool {
        networks.isEmpty || matches(peer.flatMap { NetworkAddress($0[...]) })
    }

    /// Returns whether the rule accepts requests from an address; nil is an address that cannot be parsed.
    package func matches(_ address: NetworkAddress?) -> Bool {
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
    /// Returns whether a name is among the elements, compared byte by byte.
    ///
    /// Two spellings that Unicode treats as equal are two names, as they are in a ``Username``.
    fileprivate func contains(bytesOf name: String) -> Bool {
        contains { $0.hasBytes(of: name) }
    }
}

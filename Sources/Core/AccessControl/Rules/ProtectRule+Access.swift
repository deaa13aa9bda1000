// SPDX-License-Identifier: Apache-2.0

internal import Bytes
public import RealmKit

/// A user whose access a rule can check: the identity of a new login, or the user of a session.
///
/// The protocol has a method for group membership instead of a list of groups, because creating the list is slower.
private protocol RuleUser {
    var realm: String { get }
    var username: Username { get }
    func isMember(of group: String) -> Bool
    var attributes: [UserAttribute] { get }
}

extension AuthenticatedIdentity: RuleUser {}
extension SignedInUser: RuleUser {}

extension ProtectRule {
    /// Returns whether the rule allows a signed-in user.
    ///
    /// - Parameter user: The user.
    /// - Returns: True if the rule allows all requests, or if the user belongs to one of its realms and meets
    ///   one of its requirements.
    public func allows(_ user: SignedInUser) -> Bool { admits(user) }

    /// Returns whether the rule allows a newly authenticated user.
    ///
    /// - Parameter identity: The identity of the user.
    /// - Returns: True if the rule allows all requests, or if the user belongs to one of its realms and meets
    ///   one of its requirements.
    public func allows(_ identity: AuthenticatedIdentity) -> Bool { admits(identity) }

    /// Returns whether the rule applies to a method.
    ///
    /// A rule for GET also applies to HEAD (RFC 9110 section 9.3.2).
    ///
    /// - Parameter method: The method of a request. It is case-sensitive.
    /// - Returns: True if the rule names the method, or if it names no methods.
    public func matches(method: String) -> Bool {
        methods.isEmpty || methods.contains { $0.hasBytes(of: method) }
            || method.hasBytes(of: "HEAD") && methods.contains("GET")
    }

    /// Returns whether the rule accepts requests from an address.
    ///
    /// - Parameter peer: The address as text. It is parsed only if the rule names networks.
    /// - Returns: True if the address is in a network of the rule, or if the rule names no networks. A text that is not
    ///   an address is in no network.
    public func matches(peer: String?) -> Bool {
        networks.isEmpty || matches(peer.flatMap { NetworkAddress($0[...]) })
    }

    /// The address is nil if it cannot be parsed.
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
        case .attribute(let name, let values):
            user.attributes.values(of: name).contains { values.contains(bytesOf: $0) }
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
    /// Compares bytes: `String` treats some different byte sequences as equal, but ``Username`` does not.
    fileprivate func contains(bytesOf name: String) -> Bool { contains { $0.hasBytes(of: name) } }
}

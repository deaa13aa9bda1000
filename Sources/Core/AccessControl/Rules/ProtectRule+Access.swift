// SPDX-License-Identifier: Apache-2.0

internal import Bytes
public import RealmKit

extension ProtectRule {
    /// Returns whether the rule allows a user.
    ///
    /// - Parameter user: The user.
    /// - Returns: True if the rule allows all requests, or if the user belongs to one of its realms and meets
    ///   one of its requirements. Names are compared byte by byte.
    public func allows(_ user: SignedInUser) -> Bool { ProtectionRules.CompiledRule(self).allows(user) }

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
}

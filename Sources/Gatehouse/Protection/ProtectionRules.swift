// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmConfiguration
public import RealmKit

/// Which rule a path falls under: the one with the longest path that is the request's path or a folder above it.
public struct ProtectionRules: Sendable {
    // Longest first, so that the first that matches decides; the order among the others does not matter.
    private let rules: [(segments: [String], rule: ProtectRule)]

    /// Rules in any order.
    ///
    /// - Parameter rules: The rules; their paths differ.
    public init(_ rules: [ProtectRule]) {
        self.rules =
            rules
            .map { (segments: $0.path.split(separator: "/").map(String.init), rule: $0) }
            .sorted { $0.segments.count > $1.segments.count }
    }

    /// The rule for a path; nil if the path is open to everybody.
    ///
    /// - Parameter path: The request's path.
    /// - Returns: The rule that decides.
    public func rule(for path: RequestPath) -> ProtectRule? {
        rules.first { rule in
            path.segments.starts(with: rule.segments) { $0.utf8.elementsEqual($1.utf8) }
        }?.rule
    }
}

extension ProtectRule {
    /// Whether somebody meets one of the requirements.
    ///
    /// - Parameter identity: Somebody the rule's realm has accepted.
    /// - Returns: True if one of them is met and the identity is of the rule's realm.
    public func allows(_ identity: AuthenticatedIdentity) -> Bool {
        guard identity.realm == realm else { return false }
        return requirements.contains { requirement in
            switch requirement {
            case .any: true
            // Byte by byte: two spellings that Unicode holds for the same are two names, as they are in a Username.
            case .users(let names): names.contains { $0.utf8.elementsEqual(identity.username.text.utf8) }
            case .groups(let names): names.contains { identity.isMember(of: $0) }
            }
        }
    }
}

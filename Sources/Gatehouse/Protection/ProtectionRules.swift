// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmConfiguration
public import RealmKit

/// Which rule a path falls under: the one with the longest path that is the request's path or a folder above it.
public struct ProtectionRules: Sendable {
    /// A rule and its path, taken apart.
    final class Guarded: Sendable {
        let rule: ProtectRule
        fileprivate let segments: [String]

        fileprivate init(_ rule: ProtectRule) {
            self.rule = rule
            segments = rule.path.split(separator: "/").map(String.init)
        }
    }

    // Longest first, so that the first that matches decides; the order among the others does not matter.
    private let rules: [Guarded]

    /// Rules in any order.
    ///
    /// - Parameter rules: The rules; their paths differ.
    public init(_ rules: [ProtectRule]) {
        self.rules = rules.map(Guarded.init).sorted { $0.segments.count > $1.segments.count }
    }

    /// The rule for a path; nil if the path is open to everybody.
    ///
    /// - Parameter path: The request's path.
    /// - Returns: The rule that decides.
    public func rule(for path: RequestPath) -> ProtectRule? {
        guarded(path)?.rule
    }

    /// The rule for a path, as the one object it is.
    func guarded(_ path: RequestPath) -> Guarded? {
        rules.first { Self.isPrefix($0.segments, of: path.segments) }
    }

    /// Byte by byte: two spellings that Unicode holds for the same are two paths.
    private static func isPrefix(_ prefix: [String], of segments: [String]) -> Bool {
        guard prefix.count <= segments.count else { return false }
        for index in prefix.indices where !prefix[index].utf8.elementsEqual(segments[index].utf8) { return false }
        return true
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

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// One `protect` block: a path, the realm that is asked, and who may come in.
public struct ProtectRule: Sendable, Hashable {
    /// A way for a client to present credentials.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// HTTP Basic, RFC 7617.
        case basic
    }

    /// Who may come in.
    public enum Requirement: Sendable, Hashable, CustomStringConvertible {
        /// Every user of the realm.
        case any
        /// The users with these names.
        case users([String])
        /// The members of one of these groups.
        case groups([String])

        /// As realms.conf spells it.
        public var description: String {
            switch self {
            case .any: "any"
            case .users(let names): "user \(names.joined(separator: " "))"
            case .groups(let names): "group \(names.joined(separator: " "))"
            }
        }
    }

    /// The path, without a `/` at its end unless it is all there is; everything below it is protected too.
    public let path: String
    /// The name of the realm that is asked.
    public let realm: String
    /// The schemes offered, in order.
    public let schemes: [Scheme]
    /// Who may come in: whoever meets one of these.
    public let requirements: [Requirement]

    /// A rule.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - realm: The name of the realm that is asked.
    ///   - schemes: The schemes offered, in order.
    ///   - requirements: Who may come in: whoever meets one of these; at least one.
    public init(path: String, realm: String, schemes: [Scheme], requirements: [Requirement]) {
        self.path = path
        self.realm = realm
        self.schemes = schemes
        self.requirements = requirements
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// A `protect` block: a place, the realms that authenticate, and the users who have access.
public struct ProtectRule: Sendable, Hashable {
    /// The hosts of a rule.
    public enum Host: Sendable, Hashable, CustomStringConvertible {
        /// All.
        case any
        /// One, in lower case and without a dot at its end or a port.
        case name(String)
        /// All hosts below a domain, as in `*.example.com`; the domain in lower case, without the `*.`.
        case below(String)

        /// As realms.conf spells it; empty for all.
        public var description: String {
            switch self {
            case .any: ""
            case .name(let name): name
            case .below(let domain): "*.\(domain)"
            }
        }
    }

    /// A way for a client to present credentials.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// HTTP Basic, RFC 7617.
        case basic
        /// A page to sign in on, and a session.
        case form
    }

    /// A requirement for access.
    public enum Requirement: Sendable, Hashable, CustomStringConvertible {
        /// Every user of the realms.
        case any
        /// The users with these names.
        case users([String])
        /// The members of one of these groups.
        case groups([String])
        /// The users with one of these roles.
        case roles([Role])

        /// As realms.conf spells it.
        public var description: String {
            switch self {
            case .any: "any"
            case .users(let names): "user \(names.joined(separator: " "))"
            case .groups(let names): "group \(names.joined(separator: " "))"
            case .roles(let roles): "role \(roles.map(\.name).joined(separator: " "))"
            }
        }
    }

    /// The access that a rule allows.
    public enum Access: Sendable, Hashable {
        /// Allows every request, signed in or not.
        case open
        /// Denies every request.
        case nobody
        /// Allows users whom one of the realms accepts and who meet a requirement.
        case users
    }

    /// The hosts.
    public var host = Host.any
    /// The path, without a `/` at its end unless it is `/`.
    public var path: String
    /// True if the rule is for this path only, without the paths below it.
    public var isExact = false
    /// The methods of the rule, as in `GET`; empty for all.
    public var methods: [String] = []
    /// The networks from which access is allowed; empty for all.
    public var networks: [CIDRBlock] = []
    /// The access that the rule gives.
    public var access = Access.users
    /// The names of the realms that authenticate, in order; empty if there is no sign-in.
    public var realms: [String]
    /// The authentication schemes offered, in order; empty if there is no sign-in.
    public var schemes: [Scheme]
    /// The requirements, one of which a user has to meet.
    public var requirements: [Requirement]
    /// The place of the rule in the file, as in `realms.conf:3:9`; empty if it was not read from a file.
    public var place = ""

    /// A rule for all hosts, methods and networks.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - realms: The names of the realms that authenticate, in order.
    ///   - schemes: The schemes offered, in order.
    ///   - requirements: The requirements, one of which a user has to meet; at least one.
    public init(path: String, realms: [String], schemes: [Scheme], requirements: [Requirement]) {
        self.path = path
        self.realms = realms
        self.schemes = schemes
        self.requirements = requirements
    }

    /// The place that the rule is for, as realms.conf spells it: `/a`, `= /a`, `app.example.com/a`.
    public var target: String { (isExact ? "= " : "") + host.description + path }
}

/// A `role` block: a name for groups and users, independent of the groups of a realm.
///
/// Source: `security-role-mapping` of GlassFish's sun-web.xml.
public struct Role: Sendable, Hashable {
    /// The role's name.
    public let name: String
    /// The realms whose users and groups have the role; empty for all.
    public let realms: [String]
    /// The groups whose members have the role.
    public let groups: [String]
    /// The users with the role.
    public let users: [String]

    /// A role.
    ///
    /// - Parameters:
    ///   - name: The role's name.
    ///   - realms: The realms whose users and groups have the role; empty for all.
    ///   - groups: The groups whose members have the role.
    ///   - users: The users who have the role.
    public init(name: String, realms: [String] = [], groups: [String] = [], users: [String] = []) {
        self.name = name
        self.realms = realms
        self.groups = groups
        self.users = users
    }
}

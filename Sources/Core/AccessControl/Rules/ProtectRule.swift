// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A `protect` block: a host and path, the realms that authenticate users, and the users who have access.
public struct ProtectRule: Sendable, Hashable {
    /// The hosts of a rule.
    public enum Host: Sendable, Hashable, CustomStringConvertible {
        /// All hosts.
        case any
        /// One host, in lower case, without a final dot and without a port.
        case name(String)
        /// All hosts below a domain, as in `*.example.com`; the value is the domain in lower case, without the `*.`.
        case below(String)

        /// The host as realms.conf spells it; empty for all hosts.
        public var description: String {
            switch self {
            case .any: ""
            case .name(let name): name
            case .below(let domain): "*.\(domain)"
            }
        }
    }

    /// An authentication scheme.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// HTTP Basic, RFC 7617.
        case basic
        /// A sign-in page, which creates a session.
        case form
        /// The client certificate of the TLS connection.
        case certificate
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
        /// The users whose attribute has one of these values.
        case attribute(String, values: [String])

        /// The requirement as realms.conf spells it.
        public var description: String {
            switch self {
            case .any: "any"
            case .users(let names): "user \(names.joined(separator: " "))"
            case .groups(let names): "group \(names.joined(separator: " "))"
            case .roles(let roles): "role \(roles.map(\.name).joined(separator: " "))"
            case .attribute(let name, let values): "attribute \(name) \(values.joined(separator: " "))"
            }
        }
    }

    /// The form of the texts in the identity fields for an application behind a proxy.
    public enum IdentityFieldEncoding: String, Sendable, Hashable, CaseIterable {
        /// Percent-encoded, in ASCII.
        case percent = "percent-encoded"
        /// UTF-8 as it is.
        case utf8 = "utf-8"
    }

    /// The reaction to a path that programs may read differently, such as `/a%2Fb`.
    public enum AmbiguousPaths: String, Sendable, Hashable, CaseIterable {
        /// The request is refused.
        case refuse
        /// The rule decides, if all readings of the path lead to it.
        case allow
    }

    /// The access that a rule allows.
    public enum Access: Sendable, Hashable {
        /// Allows every request, also without a sign-in.
        case open
        /// Denies every request.
        case nobody
        /// Allows users of the realms who meet a requirement.
        case users
    }

    /// The hosts of the rule.
    public var host = Host.any
    /// The path; it has no final `/`, except for the path `/`.
    public var path: String
    /// True if the rule is for this path only, without the paths below it.
    public var isExact = false
    /// The methods of the rule, such as `GET`; empty for all methods.
    public var methods: [String] = []
    /// The networks from which access is allowed; empty for all networks.
    public var networks: [CIDRBlock] = []
    /// The access that the rule gives.
    public var access = Access.users
    /// The names of the realms that authenticate users, in order; empty if the rule needs no sign-in.
    public var realms: [String]
    /// The reaction to a realm that is unavailable, if the rule has several realms.
    public var whenUnavailable = WhenUnavailable.continue
    /// The authentication schemes of the rule, in order; empty if the rule needs no sign-in.
    public var schemes: [Scheme]
    /// The requirements, one or more; a user has to meet one of them.
    public var requirements: [Requirement]
    /// The name of the application, which the sign-in page shows; nil if the page shows the host instead.
    public var application: LocalizedText?
    /// The form of the texts in the identity fields for an application behind a proxy.
    public var identityFields = IdentityFieldEncoding.percent
    /// The reaction to a path that programs may read differently, in a request that a proxy asks about.
    public var ambiguousPaths = AmbiguousPaths.refuse
    /// The place of the rule in the file, such as `realms.conf:3:9`; empty if it was not read from a file.
    public var place = ""

    /// Creates a rule for all hosts, methods and networks.
    public init(path: String, realms: [String], schemes: [Scheme], requirements: [Requirement]) {
        self.path = path
        self.realms = realms
        self.schemes = schemes
        self.requirements = requirements
    }

    /// The host and path as realms.conf spells them, such as `/a`, `= /a` or `app.example.com/a`.
    public var target: String { (isExact ? "= " : "") + host.description + path }
}

/// A `role` block: a name for groups and users, independent of the groups of a realm.
///
/// Source: `security-role-mapping` of GlassFish's sun-web.xml.
public struct Role: Sendable, Hashable {
    /// The role's name.
    public let name: String
    /// The realms whose users and groups have the role; empty for all realms.
    public let realms: [String]
    /// The groups whose members have the role.
    public let groups: [String]
    /// The users with the role.
    public let users: [String]

    /// Creates a role.
    public init(name: String, realms: [String] = [], groups: [String] = [], users: [String] = []) {
        self.name = name
        self.realms = realms
        self.groups = groups
        self.users = users
    }
}

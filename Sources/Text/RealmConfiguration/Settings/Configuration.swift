// SPDX-License-Identifier: Apache-2.0

public import LoginConf
public import RealmKit

/// The configuration of a realms.conf and its login.conf files.
///
/// A configuration is immutable, checked and linked. If any part has an error, no `Configuration` is created.
public struct Configuration: Sendable {
    /// A login context, which may be used by any number of realms.
    public struct Context: Sendable, Hashable {
        /// The name of the context.
        public let name: String
        /// The place of the name, such as `login.conf:3:1`.
        public let place: String
        /// The modules of the stack, in order.
        public let modules: [Module]
        /// The names of the realms that use the context.
        public let realms: [String]

        /// A module in a login context.
        public struct Module: Sendable, Hashable {
            /// The name of the module as it is written in the file.
            public let name: String
            /// The control flag; `required` if there is a table of outcomes instead.
            public let flag: ControlFlag
            /// The control flag or the table of outcomes, as it is written in the file.
            public let control: String
        }
    }

    /// A group that a rule or a role names.
    package struct RequiredGroup: Sendable {
        /// The name as it is written in the file.
        package let name: String
        /// The realms whose users the rule or the role is for.
        package let realms: [BoundRealm]
    }

    /// The path of the realms.conf.
    public let file: String
    /// The realm for rules and logins that name no realm; nil if it is not set.
    public let defaultRealm: String?
    /// The realms, in the order of the file.
    public let realms: [BoundRealm]
    /// All login contexts, in the order of the files.
    public let contexts: [Context]
    /// The settings of the server.
    public let server: ServerSettings
    /// The settings for hashing and checking passwords.
    public let passwords: PasswordSettings
    /// The services for realms.
    public let services: RealmServices
    /// The roles, in the order of the file.
    public let roles: [Role]
    /// The `protect` rules, in the order of the file.
    public let rules: [ProtectRule]
    /// The groups that rules and roles name, each with its place.
    package let requiredGroups: [Located<RequiredGroup>]
    /// The files with certificates: of the server, of authorities, and of the connections to other servers.
    public let certificateFiles: [Located<String>]
    /// The warnings about the files.
    public let warnings: [Diagnostic]
    /// The authenticator of the realms.
    ///
    /// It has no throttle; servers add one with `authenticator.throttled(by:)`.
    public let authenticator: Authenticator
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import LoginConf
public import RealmKit

/// The configuration of a realms.conf and the files it names: checked as a whole, linked, immutable.
///
/// If any part has an error, there is no configuration.
public struct Configuration: Sendable {
    /// One entry of login.conf, linked or not.
    public struct Context: Sendable, Hashable {
        /// The entry's name.
        public let name: String
        /// The place of the entry, as in `login.conf:3:1`.
        public let place: String
        /// Module and control of each place, in order.
        public let modules: [Module]
        /// The realms whose users it checks.
        public let realms: [String]

        /// One place in a stack.
        public struct Module: Sendable, Hashable {
            /// The module's name, as the file spells it.
            public let name: String
            /// The control flag.
            public let flag: ControlFlag
        }
    }

    /// The file it was read from.
    public let file: String
    /// The realm that is used where none is named.
    public let defaultRealm: String?
    /// The realms, in the order of the file.
    public let realms: [BoundRealm]
    /// All entries of login.conf, in the order of the files.
    public let contexts: [Context]
    /// The settings of the server.
    public let server: ServerSettings
    /// The settings for hashing and checking passwords.
    public let passwords: PasswordSettings
    /// The services that realms are provided with.
    public let services: RealmServices
    /// The roles, in the order of the file.
    public let roles: [Role]
    /// The `protect` rules, in the order of the file.
    public let rules: [ProtectRule]
    /// The warnings.
    public let warnings: [Diagnostic]
    /// The authenticator, without a throttle; a server uses `authenticator.throttled(by:)`.
    public let authenticator: Authenticator
}

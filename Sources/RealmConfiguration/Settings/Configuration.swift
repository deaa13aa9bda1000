// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import LoginConf
public import RealmKit

/// Everything a realms.conf and the files it names come to: read, checked as a whole, linked, immutable.
///
/// There is no half of a configuration: one error anywhere, and there is none.
public struct Configuration: Sendable {
    /// One entry of login.conf, linked or not.
    public struct Context: Sendable, Hashable {
        /// The entry's name.
        public let name: String
        /// Where it stands, as in `login.conf:3:1`.
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
    /// The realm that is asked where none is named.
    public let defaultRealm: String?
    /// The realms, in the order of the file.
    public let realms: [BoundRealm]
    /// All entries of login.conf, in the order of the files.
    public let contexts: [Context]
    /// What the server does.
    public let server: ServerSettings
    /// How passwords are hashed and checked.
    public let passwords: PasswordSettings
    /// What the realms have been lent.
    public let services: RealmServices
    /// The roles, in the order of the file.
    public let roles: [Role]
    /// Which paths are protected, in the order of the file.
    public let rules: [ProtectRule]
    /// What is doubtful, though not wrong.
    public let warnings: [Diagnostic]
    /// The way in, without a throttle: `authenticator.throttled(by:)` is the way in of a server.
    public let authenticator: Authenticator
}

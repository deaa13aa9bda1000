// SPDX-License-Identifier: Apache-2.0

public import AccessControl
public import LoginConf
public import Passwords
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
    /// The realm for rules and logins that name no realm: that of `default-realm`, or the only realm of the file.
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

/// A value of a configuration and its place in the file, for the messages of later checks.
@dynamicMemberLookup
public struct Located<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    private let text: SourceText
    let range: SourceRange

    /// Creates a value with its place in a file, which is `.none` for a default value.
    public init(_ value: Value, in text: SourceText, at range: SourceRange = .none) {
        self.value = value
        self.text = text
        self.range = range
    }

    /// True if the value is a default, and not in the file.
    package var isDefault: Bool { range == .none }

    /// Returns a property of the value.
    public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }

    /// Returns another value at the same place.
    package func map<Other: Sendable>(_ transform: (Value) -> Other) -> Located<Other> {
        Located<Other>(transform(value), in: text, at: range)
    }

    /// Returns a warning at the value's place.
    public func warning(_ message: String, hint: String? = nil) -> Diagnostic {
        text.warning(at: range, message, hint: hint)
    }

    /// Returns an error at the value's place.
    public func errors(_ message: String, hint: String? = nil) -> ConfigurationErrors {
        ConfigurationErrors(message, at: range, in: text, hint: hint)
    }
}

/// The settings of the `passwords` block of realms.conf.
public struct PasswordSettings: Sendable, Hashable {
    /// The algorithm and cost for new passwords.
    public var policy = HashPolicy.standard
    /// The limits for computing password hashes; 0 workers means one worker per processor.
    public var slots = HashingSettings(workers: 0)

    /// The minimum number of characters in a new password.
    ///
    /// The default is 8, the minimum of NIST SP 800-63B and ASVS 6.2.1. Both advise against composition rules, such as
    /// required digits.
    public var minimumLength = 8

    /// Creates the default settings.
    public init() {}

    /// Throws ``HashFault`` with the code `unusable` if a new password does not follow the rules.
    public func check(_ password: Secret) throws(HashFault) { try rules.check(password) }

    /// The rules for new passwords.
    public var rules: NewPasswordRules {
        var rules = NewPasswordRules()
        rules.minimumLength = minimumLength
        return rules
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The values that the modules of one login share; they are released when the login is decided.
///
/// A module reads a copy, and a ``Secret`` is immutable, so a module cannot damage the values for the next module. In
/// the JDK a failing LdapLoginModule erases the password for all later modules. Source: the shared state of
/// `LoginModule.initialize`, PAM items.
public struct SharedState: Sendable {
    /// The name of a value, the same for all modules that share the value.
    public struct Key: Sendable, Hashable {
        /// The name, as in `javax.security.auth.login.name`.
        public let name: String

        /// Creates a key, whose name has a prefix that is unique to the modules that use it.
        public init(_ name: String) { self.name = name }

        /// The user name that a module has authenticated.
        public static let name = Key("javax.security.auth.login.name")
        /// The password that a module has received.
        public static let password = Key("javax.security.auth.login.password")
    }

    /// A value.
    public enum Value: Sendable {
        /// A text.
        case text(String)
        /// Confidential bytes.
        case secret(Secret)
    }

    private var values: [Key: Value] = [:]

    /// The value of a key; nil if there is none.
    public subscript(key: Key) -> Value? {
        get { values[key] }
        set { values[key] = newValue }
    }

    /// Returns the secret of a key; nil if the key has no value, or a text.
    public func secret(_ key: Key) -> Secret? {
        guard case .secret(let secret) = values[key] else { return nil }
        return secret
    }

    /// Returns the text of a key; nil if the key has no value, or a secret.
    public func text(_ key: Key) -> String? {
        guard case .text(let text) = values[key] else { return nil }
        return text
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What the modules of one login tell each other; it ends with the login.
///
/// Reading gives a copy: a ``Secret`` cannot be changed, so no module can spoil what the next one reads. In the JDK a
/// failing LdapLoginModule blanks the password for every module after it.
///
/// Source: the shared state of `LoginModule.initialize`, PAM items.
public struct SharedState: Sendable {
    /// A name for a value, the same for all modules that mean the same thing.
    public struct Key: Sendable, Hashable {
        /// The name, as in `javax.security.auth.login.name`.
        public let name: String

        /// A key.
        ///
        /// - Parameter name: The name; put something of your own in front.
        public init(_ name: String) {
            self.name = name
        }

        /// The user name that a module has found to be right.
        public static let name = Key("javax.security.auth.login.name")
        /// The password that a module has asked for.
        public static let password = Key("javax.security.auth.login.password")
    }

    /// A value to share.
    public enum Value: Sendable {
        /// A text.
        case text(String)
        /// Bytes nobody may see.
        case secret(Secret)
    }

    private var values: [Key: Value] = [:]

    /// The value under a key, if there is one.
    public subscript(key: Key) -> Value? {
        get { values[key] }
        set { values[key] = newValue }
    }

    /// The secret under a key, if there is one.
    ///
    /// - Parameter key: The key.
    /// - Returns: The secret; nil if there is none under the key.
    public func secret(_ key: Key) -> Secret? {
        guard case .secret(let secret) = values[key] else { return nil }
        return secret
    }

    /// The text under a key, if there is one.
    ///
    /// - Parameter key: The key.
    /// - Returns: The text; nil if there is none under the key.
    public func text(_ key: Key) -> String? {
        guard case .text(let text) = values[key] else { return nil }
        return text
    }
}

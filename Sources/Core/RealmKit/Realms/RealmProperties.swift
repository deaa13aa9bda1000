// SPDX-License-Identifier: Apache-2.0

/// The properties that a realm is created from.
public typealias RealmProperties = Settings<BadRealm>

/// A realm cannot be created from its properties.
///
/// The configuration then does not load. Source: `BadRealmException` of GlassFish, which disables only the realm.
public struct BadRealm: SettingsFault, Hashable {
    /// The name of the wrong property; nil if the fault is not about a single property.
    public let setting: String?
    /// The problem, for the administrator.
    public let message: String
    /// A way to solve the problem in the configuration; nil if there is none.
    ///
    /// It is not a part of the message, because a command may read a realm's files without a configuration.
    public let hint: String?
    /// True if the problem is in the state folder of the program, and not in the realm's own properties.
    public let isAboutStateFolder: Bool

    /// Creates a fault about one property or several properties.
    ///
    /// - Parameters:
    ///   - message: The problem, for the administrator.
    ///   - setting: The name of the wrong property, if the fault is about a single property.
    ///   - hint: A way to solve the problem in the configuration.
    public init(_ message: String, setting: String? = nil, hint: String?) {
        self.message = message
        self.setting = setting
        self.hint = hint
        isAboutStateFolder = false
    }

    /// Creates a fault about one property or several properties, without a hint.
    ///
    /// - Parameters:
    ///   - message: The problem, for the administrator.
    ///   - setting: The name of the wrong property, if the fault is about a single property.
    public init(_ message: String, setting: String? = nil) {
        self.init(message, setting: setting, hint: nil)
    }

    /// Creates a fault about the state folder, which is the same for all realms.
    ///
    /// - Parameter message: The problem, for the administrator.
    public init(state message: String) {
        self.message = message
        setting = nil
        hint = nil
        isAboutStateFolder = true
    }
}

/// A property of a realm that is probably a mistake, although the realm can be used.
public struct RealmWarning: Sendable, Hashable {
    /// The problem, for the administrator.
    public let message: String
    /// The name of the property.
    public let setting: String
    /// The number of the word in the value of the property, from 0.
    public let word: Int
    /// A way to solve the problem; nil if there is none.
    public let hint: String?

    /// Creates a warning.
    ///
    /// - Parameters:
    ///   - message: The problem, for the administrator.
    ///   - setting: The name of the property.
    ///   - word: The number of the word in the value of the property, from 0.
    ///   - hint: A way to solve the problem.
    public init(_ message: String, setting: String, word: Int = 0, hint: String? = nil) {
        self.message = message
        self.setting = setting
        self.word = word
        self.hint = hint
    }
}

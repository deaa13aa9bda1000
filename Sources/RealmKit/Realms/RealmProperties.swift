// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
    /// True if the problem is in the state folder of the program, and not in the realm's own properties.
    public let isAboutStateFolder: Bool

    /// Creates a fault about one property or several properties.
    ///
    /// - Parameters:
    ///   - message: The problem, for the administrator.
    ///   - setting: The name of the wrong property, if the fault is about a single property.
    public init(_ message: String, setting: String? = nil) {
        self.message = message
        self.setting = setting
        isAboutStateFolder = false
    }

    /// Creates a fault about the state folder, which is the same for all realms.
    ///
    /// - Parameter message: The problem, for the administrator.
    public init(state message: String) {
        self.message = message
        setting = nil
        isAboutStateFolder = true
    }
}

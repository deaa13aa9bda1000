// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The properties that a realm is created from.
public typealias RealmProperties = Settings<BadRealm>

/// A realm cannot be created from its properties.
///
/// The configuration does not load. Source: `BadRealmException` of GlassFish, which disables such a realm and goes on.
public struct BadRealm: SettingsFault, Hashable {
    /// The name of the wrong property; nil if it is not about one.
    public let setting: String?
    /// The problem, for the administrator.
    public let message: String
    /// True if the problem is in the state folder of the program, and not in the realm's own properties.
    public let isAboutStateFolder: Bool

    /// Creates a fault about a property, or about the properties together.
    ///
    /// - Parameters:
    ///   - message: The problem, for the administrator.
    ///   - setting: The name of the wrong property, if it is about one.
    public init(_ message: String, setting: String? = nil) {
        self.message = message
        self.setting = setting
        isAboutStateFolder = false
    }

    /// Creates a fault about the state folder, which all realms share that keep files there.
    ///
    /// - Parameter message: The problem, for the administrator.
    public init(state message: String) {
        self.message = message
        setting = nil
        isAboutStateFolder = true
    }
}

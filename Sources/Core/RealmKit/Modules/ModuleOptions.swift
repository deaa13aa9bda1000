// SPDX-License-Identifier: Apache-2.0

/// The options that a module is created from.
public typealias ModuleOptions = Settings<BadModule>

/// A module cannot be created from its options.
public struct BadModule: SettingsFault, Hashable {
    /// The name of the wrong option; nil if the fault is not about a single option.
    public let setting: String?
    /// The problem, for the administrator.
    public let message: String

    /// Creates a fault about one option or several options.
    ///
    /// - Parameters:
    ///   - message: The problem, for the administrator.
    ///   - setting: The name of the wrong option, if the fault is about a single option.
    public init(_ message: String, setting: String? = nil) {
        self.message = message
        self.setting = setting
    }
}

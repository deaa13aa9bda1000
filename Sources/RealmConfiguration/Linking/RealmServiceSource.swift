// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// A source of the services that realms are provided with.
///
/// A program has one for as long as it runs: a reloaded configuration gets the same threads and the same store as
/// before, as far as their settings are the same.
public protocol RealmServiceSource: Sendable {
    /// Returns the services for a configuration.
    ///
    /// - Parameters:
    ///   - passwords: The settings for hashing and checking passwords.
    ///   - stateFolder: The folder for the program's state.
    /// - Returns: The services, which take resources of the system when they are first used.
    /// - Throws: ``RealmServiceFault`` when the settings cannot be met.
    func services(
        for passwords: PasswordSettings,
        stateFolder: String
    ) throws(RealmServiceFault) -> RealmServices
}

/// Provides no services: a realm that needs one cannot be loaded.
public struct NoRealmServices: RealmServiceSource {
    /// A source without services.
    public init() {}

    /// Returns no services.
    public func services(
        for passwords: PasswordSettings,
        stateFolder: String
    ) throws(RealmServiceFault) -> RealmServices {
        .none
    }
}

/// An error of a service that realms need.
public struct RealmServiceFault: Error, Sendable, Hashable {
    /// The part of realms.conf that it is about.
    public enum Cause: Sendable, Hashable {
        /// The `passwords` block.
        case passwords
        /// The state folder.
        case state
    }

    /// The part of realms.conf that it is about.
    public let cause: Cause
    /// The message for the administrator.
    public let message: String

    /// An error.
    ///
    /// - Parameters:
    ///   - cause: The part of realms.conf that it is about.
    ///   - message: The message for the administrator.
    public init(_ cause: Cause, _ message: String) {
        self.cause = cause
        self.message = message
    }
}

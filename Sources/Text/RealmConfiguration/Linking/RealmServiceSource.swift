// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A source of services for realms, such as the store and the threads for password hashes.
///
/// A program has one source for its whole life. If a reload does not change the settings of a service, the new
/// configuration gets the same threads and the same store.
public protocol RealmServiceSource: Sendable {
    /// Returns the services for a configuration.
    ///
    /// - Parameters:
    ///   - passwords: The settings for hashing and checking passwords.
    ///   - stateFolder: The folder for the program's state.
    /// - Returns: The services; they allocate resources when they are first used.
    /// - Throws: ``RealmServiceFault`` if the services cannot be provided with these settings.
    func services(
        for passwords: PasswordSettings,
        stateFolder: String
    ) throws(RealmServiceFault) -> RealmServices
}

/// A source without services: a realm that needs a service cannot be loaded.
public struct NoRealmServices: RealmServiceSource {
    /// Creates the source.
    public init() {}

    /// Returns no services.
    public func services(
        for passwords: PasswordSettings,
        stateFolder: String
    ) throws(RealmServiceFault) -> RealmServices {
        .none
    }
}

/// The error for services that cannot be provided.
public struct RealmServiceFault: Error, Sendable, Hashable {
    /// A part of realms.conf that can cause the error.
    public enum Cause: Sendable, Hashable {
        /// The `passwords` block.
        case passwords
        /// The state folder.
        case state
    }

    /// The part of realms.conf that causes the error.
    public let cause: Cause
    /// The message for the administrator.
    public let message: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - cause: The part of realms.conf that causes the error.
    ///   - message: The message for the administrator.
    public init(_ cause: Cause, _ message: String) {
        self.cause = cause
        self.message = message
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The services for data in the state folder, such as the store of users, locks and sessions.
///
/// An executable passes this value to its command. With ``none`` the program stores nothing, and needs no database
/// library. The product Store adds `.store`.
public struct ProgramState: Sendable {
    /// Adds the services of one state folder to the services of the realms.
    package typealias Provider = @Sendable (inout RealmServices) -> Void

    /// Returns the provider for a state folder.
    ///
    /// Files are opened when a service is first used.
    package let provider: @Sendable (_ folder: String, _ access: StateAccess) -> Provider

    /// No services.
    ///
    /// A configuration with a realm that needs the store is rejected.
    public static let none = ProgramState { _, _ in { _ in } }

    /// - Parameter provider: Returns the provider for a state folder.
    package init(_ provider: @escaping @Sendable (_ folder: String, _ access: StateAccess) -> Provider) {
        self.provider = provider
    }
}

/// The access of a program to its state folder.
package enum StateAccess: Sendable, Hashable {
    /// The program reads and writes.
    ///
    /// Missing files are created.
    case createIfMissing
    /// The program only reads.
    ///
    /// A missing store is treated as an empty store.
    case existingOnly
    /// The program only checks the configuration.
    ///
    /// A missing store, or a store of an older version, is treated as an empty store.
    case checkOnly
}

/// The service that reads the locks that a server has stored in the state folder.
package struct RecordedLockouts: Sendable {
    /// Reads the locks that are active at a time, in seconds since 1970.
    ///
    /// The returned throttle rejects logins of locked accounts. It does not count failures.
    package let throttle: @Sendable (_ now: Int) async throws -> any LoginThrottle

    package init(_ throttle: @escaping @Sendable (_ now: Int) async throws -> any LoginThrottle) {
        self.throttle = throttle
    }
}

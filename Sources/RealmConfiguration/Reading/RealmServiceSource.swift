// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// Makes what realms are lent, of what a configuration says.
///
/// A program has one for as long as it runs: a configuration that is read again gets the same threads and the same store
/// as the one before, as far as it says the same about them.
public protocol RealmServiceSource: Sendable {
    /// What realms are lent.
    ///
    /// - Parameters:
    ///   - passwords: How passwords are hashed and checked.
    ///   - stateFolder: The folder for what the program keeps.
    /// - Returns: The services; what takes something of the system takes it when it is first used.
    /// - Throws: ``RealmServiceFault`` when the settings cannot be met.
    func services(
        for passwords: PasswordSettings,
        stateFolder: String
    ) throws(RealmServiceFault) -> RealmServices
}

/// Lends nothing: a realm that needs a service cannot be loaded.
public struct NoRealmServices: RealmServiceSource {
    /// A source of nothing.
    public init() {}

    /// Nothing.
    public func services(
        for passwords: PasswordSettings,
        stateFolder: String
    ) throws(RealmServiceFault) -> RealmServices {
        .none
    }
}

/// What realms are to be lent cannot be had.
public struct RealmServiceFault: Error, Sendable, Hashable {
    /// Which part of realms.conf is about it.
    public enum Cause: Sendable, Hashable {
        /// The `passwords` block.
        case passwords
        /// The state folder.
        case state
    }

    /// Which part of realms.conf is about it.
    public let cause: Cause
    /// What is wrong, for the administrator.
    public let message: String

    /// A fault.
    ///
    /// - Parameters:
    ///   - cause: Which part of realms.conf is about it.
    ///   - message: What is wrong, for the administrator.
    public init(_ cause: Cause, _ message: String) {
        self.cause = cause
        self.message = message
    }
}

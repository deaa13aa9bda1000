// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import RealmKit

/// The part of a program that keeps data in the state folder, such as the store of users, locks and sessions.
///
/// An executable passes it to its command. ``none`` keeps nothing; a program with it builds without a database library.
/// The target StoreServices adds `.store`.
public struct ProgramState: Sendable {
    /// Adds the services of one state folder to those that realms get.
    package typealias Provider = @Sendable (inout RealmServices) -> Void

    /// Makes the provider for a state folder; it opens files only when one of its services is first used.
    package let provider: @Sendable (_ folder: String, _ access: StateAccess) -> Provider

    /// Keeps nothing: a configuration with a realm that needs a store cannot be loaded.
    public static let none = ProgramState { _, _ in { _ in } }

    /// - Parameter provider: Makes the provider for a state folder.
    package init(_ provider: @escaping @Sendable (_ folder: String, _ access: StateAccess) -> Provider) {
        self.provider = provider
    }
}

/// The use that a program makes of its state folder.
package enum StateAccess: Sendable, Hashable {
    /// Reads and writes; missing files are created.
    case createIfMissing
    /// Reads only; a missing store is taken for an empty one.
    case existingOnly
}

/// The service of a state folder that reads the locks which a server has recorded there.
package struct RecordedLockouts: Sendable {
    /// Reads the locks that are in force at a time in seconds since 1970.
    ///
    /// The throttle that it returns rejects logins of locked accounts and counts nothing.
    package let throttle: @Sendable (_ now: Int) async throws -> any LoginThrottle

    package init(_ throttle: @escaping @Sendable (_ now: Int) async throws -> any LoginThrottle) {
        self.throttle = throttle
    }
}

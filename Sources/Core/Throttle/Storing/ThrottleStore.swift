// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A store that keeps failures and locks across restarts, where other programs can list and clear them.
///
/// The counts in the memory of the throttle are authoritative. The throttle reads the store when it starts, and updates
/// the store a little after each change. It calls one method at a time. ``clear(_:)`` is for other programs, which may
/// call it at any time.
public protocol ThrottleStore: Sendable {
    /// Reads all records. An implementation may remove expired records (``ThrottleRecord/expiry``) and leave them out.
    ///
    /// - Returns: The records, and the number of the last reset.
    /// - Throws: ``ThrottleStoreError`` when the store cannot be read.
    func load() async throws(ThrottleStoreError) -> ThrottleSnapshot

    /// Stores at most ``ThrottleChange/batch`` changes in order, in one transaction.
    ///
    /// - Throws: ``ThrottleStoreError`` when the transaction fails. Then no change is stored, and the throttle tries again.
    func save(_ changes: [ThrottleChange]) async throws(ThrottleStoreError)

    /// Reads the resets after the last reset that the throttle knows.
    ///
    /// The call confirms that this reset and those before it are applied, so the store may remove them.
    ///
    /// - Returns: The later resets, in order.
    /// - Throws: ``ThrottleStoreError`` when the store cannot be read.
    func lockoutResets(after number: Int) async throws(ThrottleStoreError) -> [LockoutReset]

    /// Removes the records of a scope, and stores a ``LockoutReset`` for a running throttle.
    ///
    /// - Throws: ``ThrottleStoreError`` when the store cannot be written. Then the store is unchanged.
    func clear(_ scope: LockoutReset.Scope) async throws(ThrottleStoreError)
}

/// The service for a program that counts failed logins: the store of its state folder.
package struct ThrottleStorage: Sendable {
    /// Opens the store at the first call.
    package let open: @Sendable () throws -> any ThrottleStore

    package init(open: @escaping @Sendable () throws -> any ThrottleStore) { self.open = open }
}

/// The content of a store.
public struct ThrottleSnapshot: Sendable {
    /// The records, in no particular order.
    public var records: [ThrottleRecord]
    /// The number of the last reset; 0 if there was no reset.
    public var lastReset: Int

    /// Creates the content of a store.
    public init(records: [ThrottleRecord] = [], lastReset: Int = 0) {
        self.records = records
        self.lastReset = lastReset
    }
}

/// A reset of failures and locks by another program.
public struct LockoutReset: Sendable, Hashable {
    /// The failures and locks that a reset clears.
    public enum Scope: Sendable, Hashable {
        /// One account or source.
        case one(ThrottleKey)
        /// All accounts and sources.
        case all
    }

    /// The number of the reset, higher than those of all resets before it.
    public let number: Int
    /// The failures and locks that the reset clears.
    public let scope: Scope

    /// Creates a reset.
    public init(number: Int, scope: Scope) {
        self.number = number
        self.scope = scope
    }
}

/// The error of a store that cannot be read or written.
public struct ThrottleStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message for the log.
    public let message: String

    /// Creates an error with a message for the log.
    public init(_ message: String) { self.message = message }

    /// The message for the log.
    public var description: String { message }
}

/// The locks that a server has stored, for a program that tests whether a user could log in.
///
/// Failures are not counted. An attacker who can read the store can read the password hashes in it, and so can test
/// passwords without this program.
public struct RecordedLocks: LoginThrottle {
    private struct Reservation: LoginReservation {
        let locked: Set<ThrottleKey>

        func mayGrant(_ account: Account) -> Bool { !locked.contains(.account(account)) }

        func settle(_ attempts: [RealmAttempt]) async {}
    }

    /// No locks, as in an empty store.
    public static let none = RecordedLocks(locked: [])

    private let locked: Set<ThrottleKey>

    private init(locked: Set<ThrottleKey>) { self.locked = locked }

    /// Reads the locks of a store at a time in seconds since 1970.
    ///
    /// - Throws: ``ThrottleStoreError`` when the store cannot be read.
    public init(_ store: any ThrottleStore, now: Int) async throws(ThrottleStoreError) {
        let records = try await store.load().records
        locked = Set(records.filter { $0.lockout(at: now) != nil }.map(\.key))
    }

    /// Returns a reservation that prevents a login to a locked account from succeeding.
    public func reserve(
        _ accounts: [Account],
        by username: Username,
        from peer: String?
    ) async -> any LoginReservation {
        Reservation(locked: locked)
    }
}

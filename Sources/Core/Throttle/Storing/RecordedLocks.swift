// SPDX-License-Identifier: Apache-2.0

public import RealmKit

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

    /// Reads the locks of a store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - now: The time in seconds since 1970.
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

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// The locks that a server has recorded, for a program that asks whether somebody would be let in.
///
/// Nothing is counted: who can read the store need not guess.
public struct RecordedLocks: LoginThrottle {
    private struct Reservation: LoginReservation {
        let mayGrant: Bool

        func settle(_ report: LoginReport) async {}
    }

    private let locked: Set<ThrottleKey>

    /// The locks of a store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - now: The time in seconds since 1970.
    /// - Throws: ``ThrottleStoreError`` when it cannot be read.
    public init(_ store: any ThrottleStore, now: Int) async throws(ThrottleStoreError) {
        let records = try await store.load().records
        locked = Set(records.filter { $0.lockout(at: now) != nil }.map(\.key))
    }

    /// An attempt that may come to nothing if its account is locked.
    public func reserve(_ account: Account, for request: LoginRequest) async -> any LoginReservation {
        Reservation(mayGrant: !locked.contains(.account(account)))
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A store in which failures and locks survive a restart, and other programs can list and clear them.
///
/// The counts in the throttle's memory are authoritative; the store is updated a little later and is read when the
/// throttle starts. The throttle calls one method at a time. ``clear(_:)`` is for other programs, and may be called at
/// any time.
public protocol ThrottleStore: Sendable {
    /// Reads everything that is stored; a record past its ``ThrottleRecord/expiry`` may be left out, and removed.
    ///
    /// - Returns: The records, and the number of the last reset.
    /// - Throws: ``ThrottleStoreError`` when nothing could be read.
    func load() async throws(ThrottleStoreError) -> ThrottleSnapshot

    /// Stores changes, in order, all of them or none.
    ///
    /// - Parameter changes: At most ``ThrottleChange/batch`` changes.
    /// - Throws: ``ThrottleStoreError`` when nothing was written; the throttle tries again.
    func save(_ changes: [ThrottleChange]) async throws(ThrottleStoreError)

    /// Reads the resets after another one.
    ///
    /// - Parameter number: The number of the last reset that is known.
    /// - Returns: The later ones, in order.
    /// - Throws: ``ThrottleStoreError`` when nothing could be read.
    func lockoutResets(after number: Int) async throws(ThrottleStoreError) -> [LockoutReset]

    /// Removes records, and stores a ``LockoutReset`` for a running throttle.
    ///
    /// - Parameter scope: The records.
    /// - Throws: ``ThrottleStoreError`` when nothing was written.
    func clear(_ scope: LockoutReset.Scope) async throws(ThrottleStoreError)
}

/// The content of a store.
public struct ThrottleSnapshot: Sendable {
    /// The records, in no order.
    public var records: [ThrottleRecord]
    /// The number of the last reset; 0 if there was none.
    public var lastReset: Int

    /// The content of a store.
    ///
    /// - Parameters:
    ///   - records: The records, in no order.
    ///   - lastReset: The number of the last reset; 0 if there was none.
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

    /// The number: higher than that of any earlier reset, and never used again.
    public let number: Int
    /// The failures and locks that it clears.
    public let scope: Scope

    /// A reset.
    ///
    /// - Parameters:
    ///   - number: The number.
    ///   - scope: The failures and locks that it clears.
    public init(number: Int, scope: Scope) {
        self.number = number
        self.scope = scope
    }
}

/// An error of a store that cannot be read or written.
public struct ThrottleStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message for the log.
    public let message: String

    /// An error.
    ///
    /// - Parameter message: The message for the log.
    public init(_ message: String) { self.message = message }

    /// The message for the log.
    public var description: String { message }
}

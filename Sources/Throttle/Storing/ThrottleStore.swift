// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Where a throttle keeps what has to survive a restart, and where another program can list and clear it.
///
/// The throttle's memory decides; the store follows a little later and is asked when the throttle begins. The throttle
/// calls one method at a time. ``clear(_:)`` is for other programs, and may be called at any time.
public protocol ThrottleStore: Sendable {
    /// Everything that is kept; what is past its ``ThrottleRecord/expiry`` by now may be left out, and removed.
    ///
    /// - Returns: The records, and the number of the last clearance.
    /// - Throws: ``ThrottleStoreError`` when nothing could be read.
    func load() async throws(ThrottleStoreError) -> ThrottleSnapshot

    /// Keeps changes, in order, all of them or none.
    ///
    /// - Parameter changes: What is otherwise, at most ``ThrottleChange/batch`` of them.
    /// - Throws: ``ThrottleStoreError`` when nothing was written; they come again.
    func save(_ changes: [ThrottleChange]) async throws(ThrottleStoreError)

    /// What was cleared after another clearance.
    ///
    /// - Parameter number: The number of the last one that is known.
    /// - Returns: The later ones, in order.
    /// - Throws: ``ThrottleStoreError`` when nothing could be read.
    func clearances(after number: Int) async throws(ThrottleStoreError) -> [Clearance]

    /// Removes records, and notes that it did so, for a throttle that is running to do the same.
    ///
    /// - Parameter what: What to forget.
    /// - Throws: ``ThrottleStoreError`` when nothing was written.
    func clear(_ what: Clearance.What) async throws(ThrottleStoreError)
}

/// What a store has kept.
public struct ThrottleSnapshot: Sendable {
    /// The records, in no order.
    public var records: [ThrottleRecord]
    /// The number of the last clearance; 0 if there was none.
    public var lastClearance: Int

    /// What a store has kept.
    ///
    /// - Parameters:
    ///   - records: The records, in no order.
    ///   - lastClearance: The number of the last clearance; 0 if there was none.
    public init(records: [ThrottleRecord] = [], lastClearance: Int = 0) {
        self.records = records
        self.lastClearance = lastClearance
    }
}

/// That somebody has cleared something, on record.
public struct Clearance: Sendable, Hashable {
    /// What is to be forgotten.
    public enum What: Sendable, Hashable {
        /// One account or source.
        case one(ThrottleKey)
        /// Everything.
        case all
    }

    /// Its number: higher than that of any before it, and never used again.
    public let number: Int
    /// What is to be forgotten.
    public let what: What

    /// A clearance.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - what: What is to be forgotten.
    public init(number: Int, _ what: What) {
        self.number = number
        self.what = what
    }
}

/// A store could not be read or written.
public struct ThrottleStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened, for the log.
    public let message: String

    /// A fault.
    ///
    /// - Parameter message: What happened, for the log.
    public init(_ message: String) { self.message = message }

    /// What happened, for the log.
    public var description: String { message }
}

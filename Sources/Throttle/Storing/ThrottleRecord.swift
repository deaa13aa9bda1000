// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// The failures and the lock of an account or a source, with times of the wall clock in seconds since 1970.
public struct ThrottleRecord: Sendable, Hashable {
    /// The account or source.
    public var key: ThrottleKey
    /// The network that caused it; the record is evicted first when this network floods the table.
    public var owner: ClientNetwork?
    /// The number of failures that count.
    public var failures: Int
    /// The time of the last failure.
    public var newest: Int
    /// The end of the lock; nil if there is none.
    public var lockEnd: Int?
    /// The time from which the record is void and may be removed.
    public var expiry: Int

    /// A record.
    ///
    /// - Parameters:
    ///   - key: The account or source.
    ///   - owner: The network that caused it.
    ///   - failures: The number of failures that count.
    ///   - newest: The time of the last failure.
    ///   - lockEnd: The end of the lock; nil if there is none.
    ///   - expiry: The time from which the record is void.
    public init(
        _ key: ThrottleKey,
        owner: ClientNetwork? = nil,
        failures: Int,
        newest: Int,
        lockEnd: Int? = nil,
        expiry: Int
    ) {
        self.key = key
        self.owner = owner
        self.failures = failures
        self.newest = newest
        self.lockEnd = lockEnd
        self.expiry = expiry
    }

    /// Returns the record's lock, if it has not ended.
    ///
    /// - Parameter now: The time in seconds since 1970.
    /// - Returns: The lock; nil if there is none, or it has ended.
    public func lockout(at now: Int) -> Lockout? {
        guard let lockEnd, lockEnd > now else { return nil }
        return Lockout(key, failures: failures, end: lockEnd)
    }
}

/// A change of a store's content.
public enum ThrottleChange: Sendable, Hashable {
    /// The record of its key is replaced.
    case save(ThrottleRecord)
    /// The record of a key is removed.
    case remove(ThrottleKey)
    /// All records are removed; the present ones follow.
    case removeAll

    /// The most changes that are saved at a time.
    public static let batch = 1000
}

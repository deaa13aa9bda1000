// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// What is known of an account or a source, with times of the wall clock in seconds since 1970.
public struct ThrottleRecord: Sendable, Hashable {
    /// What was counted on.
    public var key: ThrottleKey
    /// Who brought it first; it is the first to make room when this source floods the table.
    public var owner: Source?
    /// How many failures count.
    public var failures: Int
    /// When the last one was.
    public var newest: Int
    /// When the lock ends; nil if there is none.
    public var lockEnd: Int?
    /// From when on the record says nothing any more, and may be removed.
    public var expiry: Int

    /// A record.
    ///
    /// - Parameters:
    ///   - key: What was counted on.
    ///   - owner: Who brought it first.
    ///   - failures: How many failures count.
    ///   - newest: When the last one was.
    ///   - lockEnd: When the lock ends; nil if there is none.
    ///   - expiry: From when on the record says nothing any more.
    public init(
        _ key: ThrottleKey,
        owner: Source? = nil,
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

    /// The lock that the record tells of, if it goes on.
    ///
    /// - Parameter now: The time in seconds since 1970.
    /// - Returns: The lock; nil if there is none, or it is over.
    public func lockout(at now: Int) -> Lockout? {
        guard let lockEnd, lockEnd > now else { return nil }
        return Lockout(key, failures: failures, end: lockEnd)
    }
}

/// A change of what a store keeps.
public enum ThrottleChange: Sendable, Hashable {
    /// This is what is known of its key now.
    case save(ThrottleRecord)
    /// Nothing is known of this key any more.
    case remove(ThrottleKey)
    /// Nothing is known of anything; what is, follows.
    case removeAll

    /// How many changes are saved at a time, at most.
    public static let batch = 1000
}

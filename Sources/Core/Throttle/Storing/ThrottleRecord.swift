// SPDX-License-Identifier: Apache-2.0

internal import Bytes
public import RealmKit

/// The stored failures and lock of an account or a source.
///
/// All times are in seconds since 1970, by the wall clock.
public struct ThrottleRecord: Sendable, Hashable {
    /// The account or source.
    public var key: ThrottleKey
    /// The network that caused the first failure; a full table removes the oldest record of the network with the most.
    public var owner: ClientNetwork?
    /// The number of failures within the window, or the number that caused the lock.
    public var failures: Int
    /// The time of the last failure.
    public var newest: Int
    /// The end of the lock; nil if there is no lock.
    public var lockEnd: Int?
    /// The time at which the record expires, and may be removed.
    public var expiry: Int

    /// Creates a record.
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

    /// Returns the lock of the record, if it has not ended at a time in seconds since 1970.
    public func lockout(at now: Int) -> Lockout? {
        guard let lockEnd, lockEnd > now else { return nil }
        return Lockout(key, failures: failures, end: lockEnd)
    }
}

/// A change of the content of a store.
public enum ThrottleChange: Sendable, Hashable {
    /// Stores a record, in place of the stored record with the same key.
    case save(ThrottleRecord)
    /// Removes the record of a key.
    case remove(ThrottleKey)
    /// Removes all records. The changes that follow store the present records.
    case removeAll

    /// The maximum number of changes in one call of ``ThrottleStore/save(_:)``.
    public static let batch = 1000
}

/// An account or a source on which failures are counted.
public enum ThrottleKey: Sendable, Hashable, CustomStringConvertible {
    /// A user name in a realm. The user need not exist.
    case account(Account)
    /// The network from which attempts come.
    case source(ClientNetwork)

    /// The account, such as `ann@town`, or the address.
    public var description: String {
        switch self {
        case .account(let account): account.description
        case .source(let source): source.description
        }
    }

    /// The description for a line of the log; the name of an account comes from a client, and is quoted.
    package var logText: String { if case .account = self { LogText.quoted(description) } else { description } }
}

/// The lock of an account or a source.
public struct Lockout: Sendable, Hashable {
    /// The account or source.
    public let key: ThrottleKey
    /// The number of failures that caused the lock.
    public let failures: Int
    /// The end of the lock, in seconds since 1970, by the present time of the wall clock.
    public let end: Int

    /// Creates the lock of an account or a source.
    public init(_ key: ThrottleKey, failures: Int, end: Int) {
        self.key = key
        self.failures = failures
        self.end = end
    }
}

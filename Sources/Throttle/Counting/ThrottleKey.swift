// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// An account or a source on which failures are counted.
public enum ThrottleKey: Sendable, Hashable, CustomStringConvertible {
    /// A user of a realm, existing or not.
    case account(Account)
    /// The network that attempts come from.
    case source(ClientNetwork)

    /// The account as in `ann@town`, or the address.
    public var description: String {
        switch self {
        case .account(let account): account.description
        case .source(let source): source.description
        }
    }
}

/// The lock of an account or a source.
public struct Lockout: Sendable, Hashable {
    /// The account or source.
    public let key: ThrottleKey
    /// The number of failures that caused the lock.
    public let failures: Int
    /// The end of the lock, in seconds since 1970 of the wall clock as it is now.
    public let end: Int

    /// A lock.
    ///
    /// - Parameters:
    ///   - key: The account or source.
    ///   - failures: The number of failures that caused the lock.
    ///   - end: The end of the lock, in seconds since 1970.
    public init(_ key: ThrottleKey, failures: Int, end: Int) {
        self.key = key
        self.failures = failures
        self.end = end
    }
}

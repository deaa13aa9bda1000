// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

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
}

/// The lock of an account or a source.
public struct Lockout: Sendable, Hashable {
    /// The account or source.
    public let key: ThrottleKey
    /// The number of failures that caused the lock.
    public let failures: Int
    /// The end of the lock, in seconds since 1970 by the present setting of the wall clock.
    public let end: Int

    /// Creates the lock of an account or a source.
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

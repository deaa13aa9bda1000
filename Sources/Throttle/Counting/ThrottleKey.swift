// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// What failures are counted on.
public enum ThrottleKey: Sendable, Hashable, CustomStringConvertible {
    /// A user of a realm, known or not.
    case account(Account)
    /// Where attempts come from.
    case source(Source)

    /// The account as in `ann@town`, or the address.
    public var description: String {
        switch self {
        case .account(let account): account.description
        case .source(let source): source.description
        }
    }
}

/// An account or a source that is locked.
public struct Lockout: Sendable, Hashable {
    /// What is locked.
    public let key: ThrottleKey
    /// After how many failures.
    public let failures: Int
    /// Until when, in seconds since 1970 of the wall clock as it is now.
    public let end: Int

    /// A lock.
    ///
    /// - Parameters:
    ///   - key: What is locked.
    ///   - failures: After how many failures.
    ///   - end: Until when, in seconds since 1970.
    public init(_ key: ThrottleKey, failures: Int, end: Int) {
        self.key = key
        self.failures = failures
        self.end = end
    }
}

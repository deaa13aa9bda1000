// SPDX-License-Identifier: Apache-2.0

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

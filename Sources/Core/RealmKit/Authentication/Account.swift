// SPDX-License-Identifier: Apache-2.0

/// A user name of a realm, in all its spellings; failed logins are counted for each account.
///
/// The user need not exist. A user has one account for all schemes and services (CVE-2025-24806). Keys that are
/// canonically equivalent in Unicode are one account, so that another spelling of an accent has no counter of its own
/// (CVE-2026-47203). No other type compares names in this way. ``maximumBytes`` limits the cost of the comparison.
public struct Account: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length of a ``key``, in bytes of UTF-8.
    public static let maximumBytes = 128

    /// The name of the realm.
    public let realm: String
    /// The key of all spellings of the name; see ``Realm/accountKey(of:)``.
    public let key: String

    /// Creates an account.
    ///
    /// If the key is longer than ``maximumBytes``, a checksum replaces its end, which limits the size of a table of accounts.
    /// Accounts with the same shortened key share a counter.
    public init(realm: String, key: String) {
        self.realm = realm
        self.key = key.utf8.count <= Self.maximumBytes ? key : Self.shortened(key)
    }

    /// The key and the realm, such as `ann@town`.
    public var description: String { "\(key)@\(realm)" }

    private static func shortened(_ key: String) -> String {
        var kept = ""
        for character in key.unicodeScalars {
            guard kept.utf8.count + UTF8.width(character) <= maximumBytes - 17 else { break }
            kept.unicodeScalars.append(character)
        }
        // FNV-1a, 64 bits: the same in every process, since accounts are stored.
        let sum = key.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return kept + "~" + String(sum, radix: 16)
    }
}

extension BoundRealm {
    /// Returns the account of a user name.
    public func account(of username: Username) -> Account {
        Account(realm: name, key: realm.accountKey(of: username))
    }
}

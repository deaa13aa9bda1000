// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Bounds how often somebody may try to come in: asked before a stack is walked, told what came of it.
///
/// An ``Authenticator`` that has one takes every login through it. The contract of an implementation:
///
/// - It decides when it reserves, not when it is told: attempts on their way count as failures until they are settled, so
///   that parallel guesses get no more chances than guesses in a row.
/// - It never keeps a login from being walked. An attempt that may not succeed costs the same work as any other.
/// - It returns also when the task is cancelled.
public protocol LoginThrottle: Sendable {
    /// Reserves an attempt, waiting for a while if too many are on their way.
    ///
    /// - Parameters:
    ///   - account: Whose account is tried; there need not be such a user.
    ///   - request: The login that is to be made.
    /// - Returns: What the attempt may come to.
    func reserve(_ account: Account, for request: LoginRequest) async -> any LoginReservation
}

/// An attempt that a ``LoginThrottle`` has reserved.
public protocol LoginReservation: Sendable {
    /// Whether the answer may be yes; if not, the stack is walked all the same and the login is refused as locked.
    var mayGrant: Bool { get }

    /// Takes note of what came of the attempt, then waits for as long as the answer is to be held back.
    ///
    /// It is called once. A wait ends at once when the task is cancelled.
    ///
    /// - Parameter report: How the login went.
    func settle(_ report: LoginReport) async
}

/// What failures are counted on: a user of a realm, known or not, however the name is spelled.
///
/// The same user has one account for all schemes and services (CVE-2025-24806).
public struct Account: Sendable, Hashable, CustomStringConvertible {
    /// The longest ``key``, in bytes of UTF-8.
    public static let maximumBytes = 128

    /// The name of the realm.
    public let realm: String
    /// The name that stands for all spellings; see ``Realm/accountKey(of:)``.
    public let key: String

    /// An account.
    ///
    /// - Parameters:
    ///   - realm: The name of the realm.
    ///   - key: The name that stands for all spellings. Of one longer than ``maximumBytes`` the end is replaced by a
    ///     checksum, so that a table of accounts has a bound in bytes; two that then are the same share a counter.
    public init(realm: String, key: String) {
        self.realm = realm
        self.key = key.utf8.count <= Self.maximumBytes ? key : Self.shortened(key)
    }

    /// Key and realm, as in `ann@town`.
    public var description: String { "\(key)@\(realm)" }

    private static func shortened(_ key: String) -> String {
        var kept = ""
        for character in key.unicodeScalars {
            guard kept.utf8.count + UTF8.width(character) <= maximumBytes - 17 else { break }
            kept.unicodeScalars.append(character)
        }
        // FNV-1a, 64 bits: the same in every process, as what is stored must be.
        let sum = key.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return kept + "~" + String(sum, radix: 16)
    }
}

extension BoundRealm {
    /// The account that failures of a name are counted on.
    ///
    /// - Parameter username: The name, as it was typed.
    /// - Returns: The account.
    public func account(of username: Username) -> Account {
        Account(realm: name, key: realm.accountKey(of: username))
    }
}

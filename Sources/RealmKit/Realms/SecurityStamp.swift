// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A digest of everything that determines whether a user keeps access, and with which rights: password, groups, state.
///
/// Two stamps of a user are equal as long as none of it has changed. A stamp is made by a realm and is valid for that
/// realm only. It must not be shown, logged or stored as it is: where a realm keeps passwords in clear text, a password
/// could be guessed from a stamp.
public struct SecurityStamp: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The longest stamp, in bytes.
    public static let maximumBytes = 64

    /// The bytes of the digest.
    public let bytes: [UInt8]
    /// The time at which the account expires, in seconds since 1970; nil for never.
    public let expiry: Int?

    /// Creates a stamp.
    ///
    /// - Parameters:
    ///   - bytes: A digest over all the data, each item preceded by its length; cut after ``maximumBytes``.
    ///   - expiry: The time at which the account expires, in seconds since 1970; sessions end by then.
    public init(_ bytes: [UInt8], expiry: Int? = nil) {
        self.bytes = Array(bytes.prefix(Self.maximumBytes))
        self.expiry = expiry
    }

    /// The same text for all stamps.
    public var description: String { "user stamp" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

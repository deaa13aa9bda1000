// SPDX-License-Identifier: Apache-2.0

/// A digest of the data that determines a user's access: the password, the groups and the state of the account.
///
/// Two stamps of a user are equal as long as this data has not changed. A stamp is created by a realm and is valid for
/// that realm only. It must not be shown, logged or stored unchanged: if a realm stores passwords in clear text, a
/// password could be guessed from a stamp.
public struct SecurityStamp: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The maximum length of a stamp, in bytes.
    public static let maximumBytes = 64

    /// The bytes of the digest.
    public let bytes: [UInt8]
    /// The time at which the account expires, in seconds since 1970; nil for never.
    public let expiry: Int?

    /// Creates a stamp.
    ///
    /// - Parameters:
    ///   - bytes: A digest of all the data, each item preceded by its length. Bytes after ``maximumBytes`` are cut off.
    ///   - expiry: The time at which the account expires, in seconds since 1970. Sessions end no later than this time.
    public init(_ bytes: [UInt8], expiry: Int? = nil) {
        self.bytes = Array(bytes.prefix(Self.maximumBytes))
        self.expiry = expiry
    }

    /// The same text for all stamps.
    public var description: String { "user stamp" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

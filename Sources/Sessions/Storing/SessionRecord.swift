// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import OpenSSLKit
public import RealmKit

/// A session as a store keeps it; times are seconds since 1970.
public struct SessionRecord: Sendable, Hashable {
    /// The id.
    public let id: SessionID
    /// The digest of its token.
    public var token: Digest
    /// Its user, with the groups of the sign-in.
    public let user: SignedInUser
    /// The host it belongs to.
    public let host: SessionHost
    /// The client that began it.
    public let client: SessionClient
    /// The time at which it began.
    public let created: Int
    /// The time of its last use.
    public var lastSeen: Int
    /// The time at which it ends without another request.
    public var idleExpiry: Int
    /// The time at which it ends in any case.
    public var absoluteExpiry: Int
    /// The security stamp of its user; nil if the realm has none.
    public let stamp: SaltedStamp?

    /// A session.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - token: The digest of its token.
    ///   - user: Its user.
    ///   - host: The host it belongs to.
    ///   - client: The client that began it.
    ///   - created: The time at which it began.
    ///   - lastSeen: The time of its last use.
    ///   - idleExpiry: The time at which it ends without another request.
    ///   - absoluteExpiry: The time at which it ends in any case.
    ///   - stamp: The security stamp of its user.
    public init(
        _ id: SessionID,
        token: Digest,
        user: SignedInUser,
        host: SessionHost,
        client: SessionClient,
        created: Int,
        lastSeen: Int,
        idleExpiry: Int,
        absoluteExpiry: Int,
        stamp: SaltedStamp?
    ) {
        self.id = id
        self.token = token
        self.user = user
        self.host = host
        self.client = client
        self.created = created
        self.lastSeen = lastSeen
        self.idleExpiry = idleExpiry
        self.absoluteExpiry = absoluteExpiry
        self.stamp = stamp
    }
}

/// The times of a session that was used, in seconds since 1970.
public struct SessionTouch: Sendable, Hashable {
    /// The most sessions that a store is given at once.
    public static let batch = 500

    /// The session.
    public let id: SessionID
    /// The time of its last use.
    public let lastSeen: Int
    /// The time at which it ends without another request.
    public let idleExpiry: Int
    /// The time at which it ends in any case; it changes when the wall clock is set.
    public let absoluteExpiry: Int
}

/// The digest of a ``SecurityStamp`` with a salt of its session.
///
/// The store does not reveal that two sessions have the same user, and a stamp cannot be looked up in a table of digests.
public struct SaltedStamp: Sendable, Hashable {
    /// 16 random bytes.
    public let salt: [UInt8]
    /// SHA-256 of salt and stamp.
    public let digest: Digest

    /// A stored stamp.
    ///
    /// - Parameters:
    ///   - salt: The salt.
    ///   - digest: SHA-256 of salt and stamp.
    public init(salt: [UInt8], digest: Digest) {
        self.salt = salt
        self.digest = digest
    }

    /// Salts a stamp.
    init(_ stamp: SecurityStamp) throws(OpenSSLError) {
        salt = try RandomBytes.make(16)
        digest = try Digest.sha256(salt + stamp.bytes)
    }

    /// Returns whether it is the salted digest of a stamp.
    func isMade(of stamp: SecurityStamp) throws(OpenSSLError) -> Bool {
        try Digest.sha256(salt + stamp.bytes) == digest
    }
}

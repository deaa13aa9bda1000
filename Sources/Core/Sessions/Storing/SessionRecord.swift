// SPDX-License-Identifier: Apache-2.0

public import OpenSSLKit
public import RealmKit

/// The stored form of a session, with all times in seconds since 1970.
public struct SessionRecord: Sendable, Hashable {
    /// The id of the session.
    public let id: SessionID
    /// The digest of the token.
    public var token: Digest
    /// The user, with the groups of the sign-in.
    public let user: SignedInUser
    /// The host that the session belongs to.
    public let host: SessionHost
    /// The session of the sign-in that this session was handed over from; nil for the session of a sign-in.
    public let parent: SessionID?
    /// The client that began the session.
    public let client: SessionClient
    /// The time of the beginning.
    public let created: Int
    /// The time of the last use.
    public var lastSeen: Int
    /// The idle end: the session ends at this time if there is no other request.
    public var idleExpiry: Int
    /// The absolute end: the session ends at this time in any case.
    public var absoluteExpiry: Int
    /// The salted security stamp of the user; nil if the realm has no stamps.
    public let stamp: SaltedStamp?

    /// Creates the stored form of a session.
    public init(
        _ id: SessionID,
        token: Digest,
        user: SignedInUser,
        host: SessionHost,
        parent: SessionID? = nil,
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
        self.parent = parent
        self.client = client
        self.created = created
        self.lastSeen = lastSeen
        self.idleExpiry = idleExpiry
        self.absoluteExpiry = absoluteExpiry
        self.stamp = stamp
    }
}

/// The changed times of a session that was used, in seconds since 1970.
public struct SessionTouch: Sendable, Hashable {
    /// The maximum number of sessions in one call of the store.
    public static let batch = 500

    /// The session.
    public let id: SessionID
    /// The time of the last use.
    public let lastSeen: Int
    /// The idle end: the session ends at this time if there is no other request.
    public let idleExpiry: Int
    /// The absolute end: a time of the wall clock, so it changes when the wall clock is set.
    public let absoluteExpiry: Int
}

/// The digest of a ``SecurityStamp`` and a salt of the session.
///
/// Because of the salts, the digests do not reveal which sessions have the same user, and a stamp cannot be found in a
/// precomputed table.
public struct SaltedStamp: Sendable, Hashable {
    /// 16 random bytes.
    public let salt: [UInt8]
    /// SHA-256 of salt and stamp.
    public let digest: Digest

    /// Creates a stored stamp.
    public init(salt: [UInt8], digest: Digest) {
        self.salt = salt
        self.digest = digest
    }

    init(_ stamp: SecurityStamp) throws(OpenSSLError) {
        salt = try RandomBytes.make(16)
        digest = try Digest.sha256(salt + stamp.bytes)
    }

    func matches(_ stamp: SecurityStamp) throws(OpenSSLError) -> Bool {
        try Digest.sha256(salt + stamp.bytes) == digest
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import OpenSSLKit
public import RealmKit

/// A session as a store keeps it; times are seconds since 1970.
public struct SessionRecord: Sendable, Hashable {
    /// What it is called by.
    public let id: SessionID
    /// What is kept of its token.
    public var token: Digest
    /// Whose it is, and with which groups.
    public let user: SignedInUser
    /// Whence it was begun.
    public let client: SessionClient
    /// When it began.
    public let created: Int
    /// When it was used last.
    public var lastSeen: Int
    /// When it ends if nobody uses it.
    public var idleExpiry: Int
    /// When it ends, whatever happens.
    public var absoluteExpiry: Int
    /// What tells whether its user is the same still; nil if the realm could not say.
    public let stamp: SaltedStamp?

    /// A session.
    ///
    /// - Parameters:
    ///   - id: What it is called by.
    ///   - token: What is kept of its token.
    ///   - user: Whose it is.
    ///   - client: Whence it was begun.
    ///   - created: When it began.
    ///   - lastSeen: When it was used last.
    ///   - idleExpiry: When it ends if nobody uses it.
    ///   - absoluteExpiry: When it ends, whatever happens.
    ///   - stamp: What tells whether its user is the same still.
    public init(
        _ id: SessionID,
        token: Digest,
        user: SignedInUser,
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
        self.client = client
        self.created = created
        self.lastSeen = lastSeen
        self.idleExpiry = idleExpiry
        self.absoluteExpiry = absoluteExpiry
        self.stamp = stamp
    }
}

/// That a session was used; times are seconds since 1970.
public struct SessionTouch: Sendable, Hashable {
    /// How many a store is given at once.
    public static let batch = 500

    /// The session.
    public let id: SessionID
    /// When it was used last.
    public let lastSeen: Int
    /// When it ends if nobody uses it.
    public let idleExpiry: Int
    /// When it ends, whatever happens: another than it was where somebody has set the clock.
    public let absoluteExpiry: Int
}

/// What is kept of a ``UserStamp``: a digest with a salt of the session's own.
///
/// Two sessions of a user cannot be told to be that, and whoever reads the store cannot look for a stamp in a table.
public struct SaltedStamp: Sendable, Hashable {
    /// 16 random bytes.
    public let salt: [UInt8]
    /// SHA-256 of salt and stamp.
    public let digest: Digest

    /// What was kept.
    ///
    /// - Parameters:
    ///   - salt: The salt.
    ///   - digest: SHA-256 of salt and stamp.
    public init(salt: [UInt8], digest: Digest) {
        self.salt = salt
        self.digest = digest
    }

    /// Salts a stamp.
    init(_ stamp: UserStamp) throws(OpenSSLError) {
        salt = try RandomBytes.make(16)
        digest = try Digest.sha256(salt + stamp.bytes)
    }

    /// Whether it was made of a stamp.
    func isMade(of stamp: UserStamp) throws(OpenSSLError) -> Bool {
        try Digest.sha256(salt + stamp.bytes) == digest
    }
}

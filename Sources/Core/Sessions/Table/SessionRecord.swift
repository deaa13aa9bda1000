// SPDX-License-Identifier: Apache-2.0

package import OpenSSLKit
package import RealmKit

/// The stored form of a session, with all times in seconds since 1970.
package struct SessionRecord: Sendable, Hashable {
    package let id: SessionID
    package var token: Digest
    /// The user, with the groups of the sign-in.
    package let user: SignedInUser
    package let host: SessionHost
    /// The session of the sign-in that this session was handed over from; nil for the session of a sign-in.
    package let parent: SessionID?
    package let client: SessionClient
    package let created: Int
    package var lastSeen: Int
    package var idleExpiry: Int
    package var absoluteExpiry: Int
    /// Nil if the realm has no stamps.
    package let stamp: SaltedStamp?

    package init(
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
package struct SessionTouch: Sendable, Hashable {
    /// The maximum number of sessions in one call of the store.
    package static let batch = 500

    package let id: SessionID
    package let lastSeen: Int
    package let idleExpiry: Int
    /// The absolute end: a time of the wall clock, so it changes when the wall clock is set.
    package let absoluteExpiry: Int
}

/// The digest of a ``SecurityStamp`` and a salt of the session.
///
/// Because of the salts, the digests do not reveal which sessions have the same user, and a stamp cannot be found in a
/// precomputed table.
package struct SaltedStamp: Sendable, Hashable {
    /// 16 random bytes.
    package let salt: [UInt8]
    /// SHA-256 of salt and stamp.
    package let digest: Digest

    package init(salt: [UInt8], digest: Digest) {
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

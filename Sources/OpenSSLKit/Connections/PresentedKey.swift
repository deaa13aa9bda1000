// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// Records the public key that a server presents in a handshake which accepts no server.
///
/// It may be used from any thread.
public final class PresentedKey: Sendable {
    private let state = Mutex<Digest?>(nil)

    /// Creates a record without a key.
    public init() {}

    /// The SHA-256 digest of the last key, see ``Certificate/publicKeyDigest()``; nil if no certificate was received.
    public var digest: Digest? { state.withLock { $0 } }

    func record(_ digest: Digest) { state.withLock { $0 = digest } }
}

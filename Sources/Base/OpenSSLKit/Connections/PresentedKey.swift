// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Records the certificate that a server presents in a handshake which accepts no server.
///
/// It may be used from any thread.
public final class PresentedKey: Sendable {
    private let state = Mutex<(digest: Digest, certificate: Certificate?)?>(nil)

    /// Creates a record without a key.
    public init() {}

    /// The SHA-256 digest of the last key, see ``Certificate/publicKeyDigest()``; nil if no certificate was received.
    public var digest: Digest? { state.withLock { $0?.digest } }

    /// The last certificate; nil if no certificate was received, or it cannot be read.
    public var certificate: Certificate? { state.withLock { $0?.certificate } }

    func record(_ digest: Digest, of certificate: Certificate?) { state.withLock { $0 = (digest, certificate) } }
}

// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
internal import Synchronization

/// The hashes that this process has replaced by those of new passwords.
///
/// If a server returns one of them, it is a replica that has not received the change yet, and the primary server is asked
/// instead. Otherwise the old password would be accepted again.
final class ReplacedHashes: Sendable {
    /// The maximum number of hashes; the oldest are forgotten first.
    static let maximum = 10_000

    private struct State {
        var digests: [Digest: Int] = [:]
        var order: [(digest: Digest, number: Int)] = []
        var count = 0
    }

    private let state = Mutex(State())

    /// Records that the hash of a user was replaced; the name is that of the database.
    func add(_ stored: String, of user: String) throws(OpenSSLError) {
        let digest = try Self.digest(stored, of: user)
        state.withLock { state in
            state.count += 1
            state.digests[digest] = state.count
            state.order.append((digest, state.count))
            while state.order.count > Self.maximum {
                let oldest = state.order.removeFirst()
                if state.digests[oldest.digest] == oldest.number { state.digests[oldest.digest] = nil }
            }
        }
    }

    /// Returns whether a hash was replaced.
    func contains(_ stored: String, of user: String) throws(OpenSSLError) -> Bool {
        guard state.withLock({ !$0.digests.isEmpty }) else { return false }
        let digest = try Self.digest(stored, of: user)
        return state.withLock { $0.digests[digest] != nil }
    }

    /// Forgets a hash, because the primary server has it again.
    func remove(_ stored: String, of user: String) throws(OpenSSLError) {
        let digest = try Self.digest(stored, of: user)
        state.withLock { $0.digests[digest] = nil }
    }

    private static func digest(_ stored: String, of user: String) throws(OpenSSLError) -> Digest {
        try Digest.sha256(fields: [user, stored])
    }
}

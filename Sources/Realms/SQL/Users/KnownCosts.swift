// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
internal import Synchronization

/// The costs of the stored hashes that the realm has seen: every login computes one hash of each.
///
/// The realm does not read all hashes of a database, so it learns the costs: from a sample at load, and from every user.
final class KnownCosts: Sendable {
    /// The maximum number of costs.
    static let maximum = 8

    private let known: Mutex<[any PasswordHash]>

    /// - Parameter decoys: The decoys to begin with.
    init(_ decoys: [any PasswordHash]) {
        known = Mutex(decoys)
    }

    /// One decoy for each cost.
    var decoys: [any PasswordHash] { known.withLock { $0 } }

    /// Adds the cost of a hash.
    ///
    /// - Returns: The descriptions of all costs if the cost is new; otherwise nil.
    func add(_ hash: any PasswordHash) -> [String]? {
        known.withLock { known in
            guard known.count < Self.maximum, !known.contains(where: { $0.cost == hash.cost }) else { return nil }
            known.append(hash.decoy)
            return known.map(\.cost.description)
        }
    }
}

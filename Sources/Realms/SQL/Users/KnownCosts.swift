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

    private struct State {
        var decoys: [any PasswordHash] = []
        /// True if the costs were configured, so that no others are added.
        let isFixed: Bool
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - decoys: The decoys to begin with.
    ///   - isFixed: True if no others are added.
    init(_ decoys: [any PasswordHash], isFixed: Bool) {
        state = Mutex(State(decoys: decoys, isFixed: isFixed))
    }

    /// One decoy for each cost.
    var decoys: [any PasswordHash] { state.withLock { $0.decoys } }

    /// Adds the cost of a hash.
    ///
    /// - Returns: The descriptions of all costs if the cost is new; otherwise nil.
    func add(_ hash: any PasswordHash) -> [String]? {
        state.withLock { state in
            guard !state.isFixed, state.decoys.count < Self.maximum,
                !state.decoys.contains(where: { $0.cost == hash.cost })
            else { return nil }
            state.decoys.append(hash.decoy)
            return state.decoys.map(\.cost.description)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Passwords
internal import Synchronization

/// The costs of the stored hashes that the realm has seen: every login computes one hash of each.
///
/// The realm does not read all hashes of a database, so it learns the costs: from a sample at load, and from every user.
/// The dearest ones are kept, at most `HashCost.maximumChecks`.
final class KnownCosts: Sendable {
    private struct State {
        var decoys: [any PasswordHash]
        /// True after a cost had to be left out.
        var isFull = false
    }

    private let state: Mutex<State>

    /// - Parameter decoys: The decoys to begin with.
    init(_ decoys: [any PasswordHash]) {
        state = Mutex(State(decoys: decoys))
    }

    /// One decoy for each cost.
    var decoys: [any PasswordHash] { state.withLock { $0.decoys } }

    /// Adds the cost of a hash.
    ///
    /// - Returns: All costs, for a warning, if the cost is new; nil if it is known, or if it is not the first one for which a
    ///   cost had to be left out.
    func add(_ hash: any PasswordHash) -> [HashCost]? {
        state.withLock { state in
            guard !state.decoys.contains(where: { $0.cost == hash.cost }) else { return nil }
            state.decoys.append(hash.decoy)
            let costs = state.decoys.map(\.cost)
            guard costs.count > HashCost.maximumChecks else { return costs }
            if let place = costs.indices.min(by: { costs[$0].time < costs[$1].time }) { state.decoys.remove(at: place) }
            defer { state.isFull = true }
            return state.isFull ? nil : costs
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The ratio of the costs of two pieces of work.
///
/// Other programs, the cache and the processor's frequency can only increase a cost, so the minimum cost of several
/// rounds is compared. Both pieces of work are measured in every round, so a slow period of the machine affects both.
package struct CostRatio: CustomStringConvertible {
    /// The minimum number of rounds: the first round includes work that is done only once.
    private static let minimumRounds = 3
    /// The maximum number of rounds: if the ratio is too high in all of them, this is not an accident.
    private static let maximumRounds = 60

    /// The minimum cost of the work, and the minimum cost of the reference work.
    package private(set) var cost = Double.infinity, reference = Double.infinity

    package var value: Double { cost / max(reference, 1) }

    package var description: String { "\(value) (\(cost) to \(reference))" }

    /// Measures until the ratio is below a bound, or until the maximum number of rounds is reached.
    ///
    /// - Parameters:
    ///   - bound: The ratio at which the measurement may stop.
    ///   - cost: Does the work, and returns its cost.
    ///   - reference: Does the reference work, and returns its cost.
    package init(
        below bound: Double,
        of cost: () async throws -> Double,
        to reference: () async throws -> Double
    ) async rethrows {
        for round in 1...Self.maximumRounds {
            self.reference = min(self.reference, try await reference())
            self.cost = min(self.cost, try await cost())
            if round >= Self.minimumRounds, value < bound { return }
        }
    }
}

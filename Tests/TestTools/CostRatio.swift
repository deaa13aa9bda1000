// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The ratio of the costs of two pieces of work.
///
/// Other programs, the cache and the processor's frequency can add to a cost and never take from it, so the least cost of several rounds is
/// compared. Both pieces of work are measured in every round: a time in which the machine is slow slows down both.
package struct CostRatio: CustomStringConvertible {
    /// The rounds that are always measured: the first one includes work that is done only once.
    private static let leastRounds = 3
    /// The rounds after which a disturbed measurement is excluded.
    private static let mostRounds = 60

    /// The least cost of the work, and of the work it is compared with.
    package private(set) var cost = Double.infinity, reference = Double.infinity

    package var value: Double { cost / max(reference, 1) }

    package var description: String { "\(value) (\(cost) to \(reference))" }

    /// Measures until the ratio is below a bound, or remains above it in every round.
    ///
    /// - Parameters:
    ///   - bound: The ratio at which the measurement may stop.
    ///   - cost: Does the work, and returns its cost.
    ///   - reference: Does the work that it is compared with, and returns its cost.
    package init(
        below bound: Double,
        of cost: () async throws -> Double,
        to reference: () async throws -> Double
    ) async rethrows {
        for round in 1...Self.mostRounds {
            self.reference = min(self.reference, try await reference())
            self.cost = min(self.cost, try await cost())
            if round >= Self.leastRounds, value < bound { return }
        }
    }
}

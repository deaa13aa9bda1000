// SPDX-License-Identifier: Apache-2.0

/// Waits for a change by another task that sends no notification.
package enum Waiting {
    /// The error for a condition that did not hold in time.
    package struct NotInTime: Error {}

    /// The time limit: even a busy machine needs far less, so only a defect can reach it.
    package static let timeLimit = Duration.seconds(60)

    /// Evaluates a condition repeatedly until it holds.
    ///
    /// - Throws: ``NotInTime``, and what the condition throws.
    package static func until(_ condition: () throws -> Bool) async throws {
        let begin = ContinuousClock.now
        while try !condition() {
            let waited = ContinuousClock.now - begin
            guard waited < timeLimit else { throw NotInTime() }
            // Most changes come at once; a longer wait leaves the processor to other tests.
            if waited < .milliseconds(5) { await Task.yield() } else { try await Task.sleep(for: .milliseconds(2)) }
        }
    }
}

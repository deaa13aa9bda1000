// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Waits for a change that another task makes without a notification.
package enum Waiting {
    /// A condition that did not hold in time.
    package struct NotInTime: Error {}

    /// The longest time to wait: far more than a busy machine needs, so only a defect uses it up.
    package static let patience = Duration.seconds(60)

    /// Evaluates a condition repeatedly until it holds.
    ///
    /// - Throws: ``NotInTime``, and what the condition throws.
    package static func until(_ condition: () throws -> Bool) async throws {
        let end = ContinuousClock.now + patience
        while try !condition() {
            guard ContinuousClock.now < end else { throw NotInTime() }
            await Task.yield()
        }
    }
}

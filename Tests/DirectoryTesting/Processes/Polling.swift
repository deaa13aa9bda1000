// SPDX-License-Identifier: Apache-2.0

/// The error for a state that a server did not reach in time.
package struct NotReached: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Waits for another process that sends no notification.
enum Polling {
    /// The time limit: only a defect makes a test wait this long, even on a busy machine.
    private static let patience = Duration.seconds(60)

    /// Evaluates a condition repeatedly until it holds.
    ///
    /// - Throws: ``NotReached``, and the errors of the condition.
    static func until(_ goal: @autoclosure () -> String, _ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + patience
        while try await !condition() {
            guard ContinuousClock.now < end else { throw NotReached(goal()) }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The numbers of questions to users.
///
/// Logins share the numbers, so that the answer to a question of one login is not taken for an answer to a question of
/// another login of the same browser.
final class QuestionNumbers: Sendable {
    /// The greatest number, with the nine digits that a number in a JSON body may have.
    ///
    /// After it, the numbers begin again at 1.
    private static let maximum = 999_999_999

    private let last = Atomic(0)

    /// Returns the next number, from 1 on.
    func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).oldValue % Self.maximum + 1 }
}

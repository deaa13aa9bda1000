// SPDX-License-Identifier: Apache-2.0

/// The outcome of one call of a module, as an index into its ``ActionTable``.
public struct Outcome: Sendable, Hashable {
    let index: UInt8

    /// The module succeeded and has committed.
    public static let success = Outcome(index: 0)
    /// The module ignored the login.
    public static let ignored = Outcome(index: 1)
    /// Returns the outcome of a module that refused the login, failed, or exceeded its deadline.
    ///
    /// - Parameter failure: The kind of failure.
    /// - Returns: The outcome.
    public static func failure(_ failure: LoginFailure) -> Outcome { Outcome(index: 2 + failure.rawValue) }

    /// The number of outcomes.
    static let count = 2 + LoginFailure.allCases.count

    /// The kind of failure; nil for other outcomes.
    public var failure: LoginFailure? { index < 2 ? nil : LoginFailure(rawValue: index - 2) }
}

extension Outcome: CustomStringConvertible {
    /// `success`, `ignored` or the failure's code.
    public var description: String {
        failure?.code ?? (index == 0 ? "success" : "ignored")
    }
}

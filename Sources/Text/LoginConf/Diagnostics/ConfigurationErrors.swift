// SPDX-License-Identifier: Apache-2.0

/// The diagnostics of a rejected configuration: at least one error, and all warnings.
public struct ConfigurationErrors: Error, Sendable, Hashable, CustomStringConvertible {
    /// All diagnostics in the order of the text; at least one of them is an error.
    public let diagnostics: [Diagnostic]

    /// Creates the errors from diagnostics; nil if the diagnostics are all warnings.
    public init?(_ diagnostics: [Diagnostic]) {
        guard diagnostics.contains(where: { $0.severity == .error }) else { return nil }
        self.diagnostics = diagnostics
    }

    /// Creates a single error.
    ///
    /// - Parameters:
    ///   - message: The description of the problem.
    ///   - range: The place in the text.
    ///   - text: The configuration text.
    ///   - hint: A way to solve the problem.
    public init(_ message: String, at range: SourceRange, in text: SourceText, hint: String? = nil) {
        diagnostics = [text.error(at: range, message, hint: hint)]
    }

    /// The text of all diagnostics for a log, a line for each; see ``Diagnostic/logLine``.
    public var logText: String { diagnostics.map(\.logLine).joined(separator: "\n") }

    /// The text of all diagnostics; see ``Diagnostic/rendered``.
    public var description: String { diagnostics.map(\.rendered).joined(separator: "\n") }
}

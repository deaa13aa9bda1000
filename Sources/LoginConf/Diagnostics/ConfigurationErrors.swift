// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The errors that make a configuration unusable, with its warnings.
public struct ConfigurationErrors: Error, Sendable, Hashable, CustomStringConvertible {
    /// All diagnostics in the order of the text; at least one is an error.
    public let diagnostics: [Diagnostic]

    /// Collects diagnostics; nil if none of them is an error.
    public init?(_ diagnostics: [Diagnostic]) {
        guard diagnostics.contains(where: { $0.severity == .error }) else { return nil }
        self.diagnostics = diagnostics
    }

    /// Creates a single error.
    ///
    /// - Parameters:
    ///   - message: The problem.
    ///   - range: The place in the text.
    ///   - text: The text.
    ///   - hint: A way to solve the problem.
    public init(_ message: String, at range: SourceRange, in text: SourceText, hint: String? = nil) {
        diagnostics = [text.error(at: range, message, hint: hint)]
    }

    /// All diagnostics, each as ``Diagnostic/rendered``.
    public var description: String { diagnostics.map(\.rendered).joined(separator: "\n") }
}

// SPDX-License-Identifier: Apache-2.0

/// The result of parsing a text: a value and all diagnostics.
public struct Parsed<Value: Sendable>: Sendable {
    /// The part of the value that could be read, even if there are errors.
    ///
    /// It is for tools that show a file. Do not use it as a configuration.
    public let partial: Value
    /// All diagnostics in the order of the text.
    public let diagnostics: [Diagnostic]

    /// The value; nil if there are errors.
    public var value: Value? { hasErrors ? nil : partial }

    /// True if there are errors.
    public var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

    /// Returns the value.
    ///
    /// - Returns: The value of a text without errors.
    /// - Throws: All diagnostics, if one of them is an error.
    public func get() throws(ConfigurationErrors) -> Value {
        if let errors = ConfigurationErrors(diagnostics) { throw errors }
        return partial
    }
}

// SPDX-License-Identifier: Apache-2.0

public import LoginConf

/// A value of a configuration and its place in the file, for the messages of later checks.
@dynamicMemberLookup
public struct Located<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    private let text: SourceText
    let range: SourceRange

    /// Creates a value with its place.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - text: The file.
    ///   - range: The place in the file; `.none` for a default value.
    public init(_ value: Value, in text: SourceText, at range: SourceRange = .none) {
        self.value = value
        self.text = text
        self.range = range
    }

    /// True if the value is a default, and not in the file.
    package var isDefault: Bool { range == .none }

    /// Returns a property of the value.
    public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }

    /// Returns another value at the same place.
    package func map<Other: Sendable>(_ transform: (Value) -> Other) -> Located<Other> {
        Located<Other>(transform(value), in: text, at: range)
    }

    /// Returns a warning at the value's place.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - hint: A hint for the administrator.
    /// - Returns: The warning.
    public func warning(_ message: String, hint: String? = nil) -> Diagnostic {
        text.warning(at: range, message, hint: hint)
    }

    /// Returns an error at the value's place.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - hint: A hint for the administrator.
    /// - Returns: The error.
    public func errors(_ message: String, hint: String? = nil) -> ConfigurationErrors {
        ConfigurationErrors(message, at: range, in: text, hint: hint)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import LoginConf

/// A value of a configuration that remembers where it stands, so that what is found wrong with it later can be shown there.
@dynamicMemberLookup
public struct Placed<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    private let text: SourceText
    private let range: SourceRange

    /// A value and its place.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - text: The file.
    ///   - range: The place in the file; none for a default.
    public init(_ value: Value, in text: SourceText, at range: SourceRange = .none) {
        self.value = value
        self.text = text
        self.range = range
    }

    /// A property of the value.
    public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }

    /// What is wrong with the value, shown at its place.
    ///
    /// - Parameters:
    ///   - message: What is wrong.
    ///   - hint: What to do about it.
    /// - Returns: One error.
    public func errors(_ message: String, hint: String? = nil) -> ConfigurationErrors {
        ConfigurationErrors(message, at: range, in: text, hint: hint)
    }
}

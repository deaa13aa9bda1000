// SPDX-License-Identifier: Apache-2.0

/// The names of all login contexts of a configuration, in all its files.
///
/// A name must be unique in all files of a configuration, as in the JDK. Pass one `LoginContextNames` to all calls of
/// ``LoginConf/parse(_:expansion:names:)``, and add the names of `login` blocks to it.
public struct LoginContextNames: Sendable {
    // `String` treats canonically equivalent texts as equal, and the JDK does not.
    private var places: [[UInt8]: (text: SourceText, range: SourceRange)] = [:]

    /// Creates an empty set of names.
    public init() {}

    /// Adds a name.
    ///
    /// - Parameters:
    ///   - name: The name of a login context.
    ///   - range: The place of the name.
    ///   - text: The text that contains the name.
    /// - Returns: An error if the name has been added before, with a hint that shows the first place; otherwise nil.
    public mutating func add(_ name: String, at range: SourceRange, in text: SourceText) -> Diagnostic? {
        guard let first = places[Array(name.utf8)] else {
            places[Array(name.utf8)] = (text, range)
            return nil
        }
        let hint = "the first one is at \(first.text.place(of: first.range))"
        return text.error(at: range, "a second login context \(DiagnosticText.word(name))", hint: hint)
    }
}

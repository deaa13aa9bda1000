// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// An error or a warning about a configuration text: the problem, the place and a hint.
///
/// It contains all it needs to be shown, so the text can be released. It is made by ``SourceText/error(at:_:hint:)``
/// and ``SourceText/warning(at:_:hint:)``. It is safe to print: control characters of the text are replaced.
public struct Diagnostic: Error, Sendable, Hashable, CustomStringConvertible {
    /// The severity of a diagnostic.
    public enum Severity: String, Sendable, Hashable {
        /// The text is rejected.
        case error
        /// The text is accepted, but probably has another meaning than its author intended.
        case warning
    }

    /// The severity.
    public let severity: Severity
    /// The problem, in one line.
    public let message: String
    /// A way to solve the problem, in one line.
    public let hint: String?
    /// The name of the text.
    public let file: String
    /// The line, from 1.
    public let line: Int
    /// The column of the first character, from 1, in Unicode scalars of the line.
    public let column: Int
    /// The line to show: control characters replaced, tabs kept, cut around the place to at most 100 columns.
    public let lineText: String
    /// The number of characters of ``lineText`` before the place.
    public let indent: Int
    /// The number of characters of the place, at least 1; a place of several lines ends with its first line.
    public let length: Int

    /// The diagnostic as text: place and message, the line, the underline, the hint; no newline at the end.
    ///
    ///     realms.conf:3:14: error: message
    ///         class   StartWithRaelm;
    ///                 ^~~~~~~~~~~~~~
    ///         hint: did you mean `StartWithRealm`?
    public var rendered: String {
        var text = "\(file):\(line):\(column): \(severity.rawValue): \(message)\n"
        text += "    \(lineText)\n    "
        // The underline starts with the tabs of the line above it.
        for scalar in lineText.unicodeScalars.prefix(indent) { text += scalar == "\t" ? "\t" : " " }
        text += "^" + String(repeating: "~", count: length - 1)
        if let hint { text += "\n    hint: \(hint)" }
        return text
    }

    /// The same as ``rendered``.
    public var description: String { rendered }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// One remark about a configuration text: what is wrong, where, and what would help.
///
/// A diagnostic carries all it needs to be shown, so the text it is about can be dropped. It is made by
/// ``SourceText/error(at:_:hint:)`` and ``SourceText/warning(at:_:hint:)``; nothing in it can break a terminal or a
/// log, since control characters of the text are replaced.
public struct Diagnostic: Error, Sendable, Hashable, CustomStringConvertible {
    /// How bad it is.
    public enum Severity: String, Sendable, Hashable {
        /// The text is refused.
        case error
        /// The text is accepted, but probably does not mean what its author thinks.
        case warning
    }

    /// How bad it is.
    public let severity: Severity
    /// What is wrong, in one line.
    public let message: String
    /// What would help, in one line.
    public let hint: String?
    /// The name of the text.
    public let file: String
    /// The line, from 1.
    public let line: Int
    /// The column of the first character, from 1, in Unicode scalars of the line.
    public let column: Int
    /// The line for display: control characters replaced, tabs kept, cut around the place to at most 100 columns.
    public let lineText: String
    /// How many characters of ``lineText`` stand before the place.
    public let indent: Int
    /// How many characters the place is long, at least 1; a place over several lines ends with its first line.
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
        // A tab is as wide above as below.
        for scalar in lineText.unicodeScalars.prefix(indent) { text += scalar == "\t" ? "\t" : " " }
        text += "^" + String(repeating: "~", count: length - 1)
        if let hint { text += "\n    hint: \(hint)" }
        return text
    }

    /// The same as ``rendered``.
    public var description: String { rendered }
}

/// The errors that made a configuration unusable, with the warnings found beside them.
public struct ConfigurationErrors: Error, Sendable, Hashable, CustomStringConvertible {
    /// All remarks in the order of the text; at least one is an error.
    public let diagnostics: [Diagnostic]

    /// The errors among the remarks, or nothing if there is none.
    public init?(_ diagnostics: [Diagnostic]) {
        guard diagnostics.contains(where: { $0.severity == .error }) else { return nil }
        self.diagnostics = diagnostics
    }

    /// One error.
    ///
    /// - Parameters:
    ///   - message: What is wrong.
    ///   - range: Where.
    ///   - text: In which text.
    ///   - hint: What would help.
    public init(_ message: String, at range: SourceRange, in text: SourceText, hint: String? = nil) {
        diagnostics = [text.error(at: range, message, hint: hint)]
    }

    /// All remarks as text, one after the other, each as ``Diagnostic/rendered`` gives it.
    public var description: String { diagnostics.map(\.rendered).joined(separator: "\n") }
}

// SPDX-License-Identifier: Apache-2.0

/// An error or a warning about a configuration text: the problem, the place and a hint.
///
/// ``SourceText/error(at:_:hint:)`` and ``SourceText/warning(at:_:hint:)`` create diagnostics. A diagnostic has a copy of
/// the line that it shows, so the text can be released. It is safe to print: control characters are replaced.
public struct Diagnostic: Error, Sendable, Hashable, CustomStringConvertible {
    /// The severity of a diagnostic.
    public enum Severity: String, Sendable, Hashable {
        /// The text is rejected.
        case error
        /// The text is accepted, but probably does not mean what its author intended.
        case warning
    }

    /// The severity.
    public let severity: Severity
    /// The problem, in one line.
    public internal(set) var message: String
    /// A way to solve the problem, in one line.
    public internal(set) var hint: String?
    /// The name of the text.
    public let file: String
    /// The number of the line; the first line is 1.
    public let line: Int
    /// The column of the first character, counted in Unicode scalars; the first column is 1.
    public let column: Int
    /// The line to show, with control characters replaced and tabs kept.
    ///
    /// It is the statement before the place, with `...` for what may not be shown (see ``KnownNames``), and empty if nothing may
    /// be shown. A long line is cut to the 100 columns around the place.
    public let lineText: String
    /// The number of characters in ``lineText`` before the place.
    public let indent: Int
    /// The number of characters to underline, at least 1; 0 if no line is shown.
    ///
    /// If the place has several lines, only the first line is underlined.
    public let length: Int
    let isAboutFile: Bool
    let isOfProgram: Bool

    /// The diagnostic as text: place and message, the line, the underline and the hint, without a final newline.
    ///
    /// A diagnostic about a whole file has no line and no underline, nor has one about a line that may not be shown.
    ///
    ///     realms.conf:3:14: error: message
    ///         class   StartWithRaelm;
    ///                 ^~~~~~~~~~~~~~
    ///         hint: did you mean `StartWithRealm`?
    public var rendered: String {
        var text = "\(place): \(severity.rawValue): \(message)"
        if !isAboutFile, length > 0 {
            text += "\n    \(lineText)\n    "
            // The tabs of the line are copied, so that the underline is below the right characters.
            for scalar in lineText.unicodeScalars.prefix(indent) { text += scalar == "\t" ? "\t" : " " }
            text += "^" + String(repeating: "~", count: length - 1)
        }
        if let hint { text += "\n    hint: \(hint)" }
        return text
    }

    /// The diagnostic for a log, in one line: place, message and hint.
    ///
    /// More people may read a log than the configuration, so no line of the configuration is shown. A configuration that a
    /// program has made has no file with such a line, so the statement is shown.
    public var logLine: String {
        let statement = isOfProgram && length > 0 ? " in `\(lineText.drop { $0.isWhitespace })`" : ""
        return "\(place): \(severity.rawValue): \(message)\(statement)" + (hint.map { "; hint: \($0)" } ?? "")
    }

    private var place: String { isAboutFile || isOfProgram ? file : "\(file):\(line):\(column)" }

    /// The same as ``rendered``.
    public var description: String { rendered }
}

/// The diagnostics of a rejected configuration: at least one error, and all warnings.
public struct ConfigurationErrors: Error, Sendable, Hashable, CustomStringConvertible {
    /// All diagnostics in the order of the text; at least one of them is an error.
    public let diagnostics: [Diagnostic]

    /// Creates the errors from diagnostics; nil if the diagnostics are all warnings.
    public init?(_ diagnostics: [Diagnostic]) {
        guard diagnostics.contains(where: { $0.severity == .error }) else { return nil }
        self.diagnostics = diagnostics
    }

    /// Creates a single error about a place in a text.
    public init(_ message: String, at range: SourceRange, in text: SourceText, hint: String? = nil) {
        diagnostics = [text.error(at: range, message, hint: hint)]
    }

    /// The text of all diagnostics for a log, a line for each; see ``Diagnostic/logLine``.
    public var logText: String { diagnostics.map(\.logLine).joined(separator: "\n") }

    /// The text of all diagnostics; see ``Diagnostic/rendered``.
    public var description: String { diagnostics.map(\.rendered).joined(separator: "\n") }
}

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

// SPDX-License-Identifier: Apache-2.0

/// The condition under which the place of a message is shown below it.
public enum ShownPlace: Sendable {
    /// The place is shown if it is a known name or a harmless value.
    case ifKnown
    /// The place is shown, because nothing but a name can stand there.
    case always
    /// The place is not shown, because it may be a value that a mistake has moved.
    case never
}

extension SourceText {
    /// Returns an error about a place in this text, with the statement before the place as far as ``names`` allow.
    ///
    /// Message and hint have one line each; see ``KnownNames`` for what they may quote.
    public func error(
        at range: SourceRange,
        _ message: String,
        hint: String? = nil,
        showing place: ShownPlace = .ifKnown
    ) -> Diagnostic {
        diagnostic(.error, at: range, message: message, hint: hint, showing: place)
    }

    /// Returns a warning about a place in this text; see ``error(at:_:hint:showing:)``.
    public func warning(at range: SourceRange, _ message: String, hint: String? = nil) -> Diagnostic {
        diagnostic(.warning, at: range, message: message, hint: hint, showing: .ifKnown)
    }

    /// Returns the name of a secret between a harmless statement and a place in it; nil if there is none.
    ///
    /// A `;` is probably missing before it, so that the place is a secret and no value of the statement.
    public func secretName(before range: SourceRange) -> SourceRange? {
        let name = ShownPart(of: self, at: range, showing: .never).misplacedName
        return name.flatMap { $0.end <= range.start ? $0 : nil }
    }

    /// Returns a place in this text as it is shown in messages, such as `login.conf:3:5`.
    public func place(of range: SourceRange) -> String {
        if isOfProgram { return DiagnosticText.text(name) }
        let location = location(of: range.start)
        return "\(DiagnosticText.text(name)):\(location.line):\(location.column)"
    }

    private func diagnostic(
        _ severity: Diagnostic.Severity,
        at range: SourceRange,
        message: String,
        hint: String?,
        showing place: ShownPlace
    ) -> Diagnostic {
        let line = line(around: range.start)
        let part = ShownPart(of: self, at: range, showing: place).range
        let shown = ShownLine.of(bytes, line: line, place: range, part: part)
        let diagnostic = Diagnostic(
            severity: severity,
            message: DiagnosticText.text(message),
            hint: hint.map(DiagnosticText.text),
            file: DiagnosticText.text(name),
            line: line.number,
            column: line.column,
            lineText: shown.text,
            indent: shown.indent,
            length: shown.length,
            isAboutFile: range == .none && shown.length == 0,
            isOfProgram: isOfProgram
        )
        return expandedValues.hiding(in: diagnostic, line: line.number)
    }
}

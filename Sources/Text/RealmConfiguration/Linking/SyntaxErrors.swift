// SPDX-License-Identifier: Apache-2.0

internal import LoginConf

/// The syntax errors of a realms.conf, and the lines about which the linker cannot say anything because of them.
///
/// A statement with a syntax error is hidden, because an error of the linker there may be a consequence. After an error
/// that belongs to no statement, such as an unexpected `}`, all lines are hidden. An extra `;` hides nothing.
struct SyntaxErrors {
    private let diagnostics: [Diagnostic]
    private let file: String
    private let hidden: Set<ClosedRange<Int>>

    /// - Parameters:
    ///   - parsed: The statements and the diagnostics of the parser.
    ///   - text: The text.
    init(_ parsed: Parsed<[Statement]>, in text: SourceText) {
        diagnostics = parsed.diagnostics
        // The name as diagnostics have it.
        file = text.error(at: .none, "").file
        let errors = parsed.diagnostics.filter { $0.severity == .error }
        let statements = parsed.partial.map { statement in
            text.location(of: statement.range.start).line...text.location(of: statement.range.end).line
        }
        // There are at most a hundred errors. Many statements of one line are one range.
        var hidden = Set(statements.filter { lines in errors.contains { lines.contains($0.line) } })
        let outside = errors.first { error in
            !Self.isExtraSemicolon(error) && !statements.contains { $0.contains(error.line) }
        }
        if let outside { hidden.insert(outside.line...Int.max) }
        self.hidden = hidden
    }

    /// Returns whether an error is about a `;` that belongs to no statement, which has no effect on other statements.
    private static func isExtraSemicolon(_ error: Diagnostic) -> Bool {
        // The line of some errors is not shown.
        if error.message == "unexpected `;`" { return true }
        let scalars = error.lineText.unicodeScalars.dropFirst(error.indent)
        return error.length == 1 && scalars.first == ";"
    }

    /// Returns the syntax errors and the errors of the linker that do not depend on them, in the order of the lines.
    ///
    /// - Parameter log: The diagnostics of the parser and the linker.
    /// - Returns: The diagnostics; those of other files are at the end.
    func withIndependent(_ log: DiagnosticLog) -> [Diagnostic] {
        let own = Set(diagnostics)
        let independent = log.diagnostics.filter { diagnostic in
            diagnostic.severity == .error && !own.contains(diagnostic)
                && !log.isAboutOtherStatements(diagnostic)
                && !(diagnostic.file.utf8.elementsEqual(file.utf8) && hidden.contains { $0.contains(diagnostic.line) })
        }
        let all = (diagnostics + independent).enumerated()
        let here = all.filter { $0.element.file.utf8.elementsEqual(file.utf8) }.sorted { first, second in
            (first.element.line, first.element.column, first.offset)
                < (second.element.line, second.element.column, second.offset)
        }
        return here.map(\.element) + all.map(\.element).filter { !$0.file.utf8.elementsEqual(file.utf8) }
    }
}

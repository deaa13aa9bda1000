// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import LoginConf

/// The errors and warnings of a configuration in the order in which they were found, without duplicates.
final class DiagnosticLog {
    private(set) var diagnostics: [Diagnostic] = []
    /// The files that the configuration names, with the places that name them.
    var files: [NamedFile] = []
    /// The groups that rules and roles name.
    var groups: [Located<Configuration.RequiredGroup>] = []
    private var seen: Set<Diagnostic> = []
    private var dependent: Set<Diagnostic> = []
    private var errorCount = 0
    /// The texts with hidden values, by their names.
    private var texts: [String: SourceText] = [:]

    /// A file, and the place that names it.
    struct NamedFile {
        let path: String
        let use: FileTrust.Use
        let range: SourceRange
        let text: SourceText
    }

    /// The maximum number of errors of one configuration; further errors are dropped.
    private static let limit = 200

    /// Adds a diagnostic, which depends on others if a mistake in another statement, such as that of a missing name, may be
    /// the cause.
    func add(_ diagnostic: Diagnostic, dependsOnOthers: Bool = false) {
        guard errorCount < Self.limit else { return }
        // Diagnostics about these texts have no such values already.
        let diagnostic = texts.values.reduce(diagnostic) { shown, text in
            text.name.utf8.elementsEqual(shown.file.utf8) ? shown : text.hidingValues(in: shown)
        }
        if seen.insert(diagnostic).inserted {
            diagnostics.append(diagnostic)
            if diagnostic.severity == .error { errorCount += 1 }
            if errorCount == Self.limit {
                let rest = SourceText(name: diagnostic.file, bytes: [])
                diagnostics.append(rest.error(at: .none, "too many errors; the rest is not shown"))
            }
        }
        if dependsOnOthers { dependent.insert(diagnostic) }
    }

    /// Hides a value, whose references are replaced, in later diagnostics, if variables or files are the source of it.
    func hide(_ value: String, writtenAs written: String, at range: SourceRange, in text: SourceText) {
        text.hide(value, writtenAs: written, at: range)
        texts[text.name] = text
    }

    func add(_ diagnostics: [Diagnostic]) { diagnostics.forEach { add($0) } }
}

extension DiagnosticLog {
    /// Returns the syntax errors of a realms.conf and the errors of the linker that do not depend on them, in the order of
    /// the lines, with those of other files at the end.
    ///
    /// A statement with a syntax error is hidden, because an error of the linker there may be a consequence. After an error
    /// that belongs to no statement, such as an unexpected `}`, all lines are hidden. An extra `;` hides nothing.
    func diagnostics(after parsed: Parsed<[Statement]>, in text: SourceText) -> [Diagnostic] {
        let errors = parsed.diagnostics.filter { $0.severity == .error }
        let statements = parsed.partial.map { statement in
            text.location(of: statement.range.start).line...text.location(of: statement.range.end).line
        }
        // There are at most a hundred errors. Many statements of one line are one range.
        var hidden = Set(statements.filter { lines in errors.contains { lines.contains($0.line) } })
        let outside = errors.first { error in
            error.message != "unexpected `;`" && !statements.contains { $0.contains(error.line) }
        }
        if let outside { hidden.insert(outside.line...Int.max) }

        // As diagnostics have it.
        let file = text.error(at: .none, "").file
        let isHere = { (diagnostic: Diagnostic) in diagnostic.file.utf8.elementsEqual(file.utf8) }
        let own = Set(parsed.diagnostics)
        let independent = diagnostics.filter { diagnostic in
            diagnostic.severity == .error && !own.contains(diagnostic) && !dependent.contains(diagnostic)
                && !(isHere(diagnostic) && hidden.contains { $0.contains(diagnostic.line) })
        }
        let all = (parsed.diagnostics + independent).enumerated()
        let here = all.filter { isHere($0.element) }.sorted { first, second in
            (first.element.line, first.element.column, first.offset)
                < (second.element.line, second.element.column, second.offset)
        }
        return here.map(\.element) + all.map(\.element).filter { !isHere($0) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Bytes
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

    /// Adds a diagnostic.
    ///
    /// - Parameters:
    ///   - diagnostic: The diagnostic.
    ///   - dependsOnOthers: True if a mistake in another statement may be the cause, such as that of a missing name.
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

    /// Hides a value in later diagnostics, if variables or files are the source of it.
    ///
    /// - Parameters:
    ///   - value: The value with its references replaced.
    ///   - written: The value as it is written in the configuration.
    ///   - range: The place of the value.
    ///   - text: The text of the configuration.
    func hide(_ value: String, writtenAs written: String, at range: SourceRange, in text: SourceText) {
        text.hide(value, writtenAs: written, at: range)
        texts[text.name] = text
    }

    /// Returns whether a mistake in another statement may be the cause of an error.
    func isAboutOtherStatements(_ diagnostic: Diagnostic) -> Bool { dependent.contains(diagnostic) }

    func add(_ diagnostics: [Diagnostic]) {
        diagnostics.forEach { add($0) }
    }
}

// SPDX-License-Identifier: Apache-2.0

import LoginConf
import Testing

/// A text and its expected diagnostics, each as `line:column+length message | hint`.
struct Mistake: Sendable, CustomTestStringConvertible {
    let text: String
    let diagnostics: [String]

    init(_ text: String, _ diagnostics: String...) {
        self.text = text
        self.diagnostics = diagnostics
    }

    var testDescription: String { text.debugDescription }

    static func summary(_ diagnostic: Diagnostic) -> String {
        let severity = diagnostic.severity == .warning ? "warning: " : ""
        let hint = diagnostic.hint.map { " | \($0)" } ?? ""
        return "\(diagnostic.line):\(diagnostic.column)+\(diagnostic.length) \(severity)\(diagnostic.message)\(hint)"
    }
}

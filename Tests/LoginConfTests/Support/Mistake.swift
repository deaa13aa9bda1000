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

extension KnownNames {
    /// The names of the texts of tests.
    static let ofTests = KnownNames(
        harmless: [
            "a", "b", "base", "d", "debug", "file", "list", "mail", "p", "port", "refresh", "url", "x", "c", "class",
            "listen", "realm", "server", "state", "login", "key", "note", "size",
        ],
        secret: ["password", "token"],
        words: [
            "A", "B", "M", "N", "O", "auth", "required", "optional", "my app", "my:app", "1app", "<config>",
            "com/foo/M",
            "B c", "5", "key:1", "don't", "mandatory", ".",
        ]
    )
}

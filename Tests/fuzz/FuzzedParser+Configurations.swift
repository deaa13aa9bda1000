// SPDX-License-Identifier: Apache-2.0

import LoginConf

extension FuzzedParser {
    /// The languages of the configuration.
    static let configurations = [
        FuzzedParser("login-conf") { bytes in
            let source = SourceText(name: "f", bytes: bytes)
            let parsed = LoginConf.parse(source, expansion: .none)
            checkDiagnostics(parsed.diagnostics, of: source)
        },
        FuzzedParser("realms-conf") { bytes in
            let source = SourceText(name: "f", bytes: bytes)
            let parsed = RealmsConf.parse(source)
            checkDiagnostics(parsed.diagnostics, of: source)
        },
        FuzzedParser("pam") { bytes in
            let source = SourceText(name: "f", bytes: bytes, names: PAMFile.names)
            for form in [PAMFile.Form.service, .conf] {
                let parsed = PAMFile.parse(source, form: form)
                checkDiagnostics(parsed.diagnostics, of: source)
                if let file = parsed.value { checkText(of: file, form: form) }
            }
            // Each file includes the text, so all inclusions are loops.
            var resolver = PAMResolver { _ in source }
            for type in PAMType.allCases {
                let stack = resolver.stack(type, of: "f")
                checkDiagnostics(stack.diagnostics, of: source)
                check(stack.partial.entries.count <= PAMResolver.maximumEntries, "a stack is bounded")
            }
        },
    ]

    /// Checks that the lines of a file as text are the same lines.
    private static func checkText(of file: PAMFile, form: PAMFile.Form) {
        let text = file.lines.map { $0.text + "\n" }.joined()
        let again = PAMFile.parse(SourceText(name: "again", text), form: form)
        check(
            again.value?.lines.map(\.target) == file.lines.map(\.target),
            "the text of a file has the same lines: \(text)"
        )
        check(again.value?.lines.map(\.text) == file.lines.map(\.text), "the text of a file is the same: \(text)")
    }

    private static func checkDiagnostics(_ diagnostics: [Diagnostic], of source: SourceText) {
        for diagnostic in diagnostics {
            check(diagnostic.line >= 1 && diagnostic.column >= 1, "a place is in the text")
            check(!diagnostic.message.isEmpty, "a message has a text")
            let hasControls = diagnostic.description.unicodeScalars.contains {
                $0.value < 0x20 && $0 != "\n" && $0 != "\t"
            }
            check(!hasControls, "a message has no control characters")
        }
    }
}

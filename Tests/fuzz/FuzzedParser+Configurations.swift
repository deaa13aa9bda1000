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
    ]

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

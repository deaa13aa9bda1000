// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CommandSupport

@Suite struct DiagnosticColorsTests {
    private func code(_ number: Int, _ text: String) -> String { "\u{1B}[1;\(number)m\(text)\u{1B}[0m" }

    @Test func `severity, underline and hint are coloured, and nothing else`() {
        let text = """
            realms.conf:1:21: error: there is no realm class error: X
                realm xtech { class error: hint: ^~~; }
                                    ^~~~~~
                hint: did you mean StartWithRealm?
            realms.conf: warning: nothing is protected
            12 error: not a diagnostic
            """
        let expected = """
            realms.conf:1:21: \(code(31, "error:")) there is no realm class error: X
                realm xtech { class error: hint: ^~~; }
                                    \(code(32, "^~~~~~"))
                \(code(36, "hint:")) did you mean StartWithRealm?
            realms.conf: \(code(33, "warning:")) nothing is protected
            12 error: not a diagnostic
            """
        #expect(DiagnosticColors.colored(text) == expected)
    }

    @Test func `the text without the escape sequences is unchanged`() {
        let text = "a.conf:1:1: warning: x\n    \t^\n    hint: y\n"
        let plain = DiagnosticColors.colored(text).replacing(/\u{1B}\[[0-9;]*m/, with: "")
        #expect(plain == text)
    }

    @Test func `a definition may be joined with its option`() {
        #expect(
            DefinitionArgument.separated(["check", "-Dx=y", "-D", "a=b", "--", "-Dz=1"]) == [
                "check", "-D", "x=y", "-D", "a=b", "--", "-Dz=1",
            ]
        )
    }
}

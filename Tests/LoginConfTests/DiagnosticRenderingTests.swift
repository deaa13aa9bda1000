// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import LoginConf
import Testing

/// Tests the exact text of diagnostics.
@Suite struct DiagnosticRenderingTests {
    private func error(_ text: String, _ start: UInt32, _ end: UInt32, hint: String? = nil) -> Diagnostic {
        SourceText(name: "realms.conf", text).error(at: SourceRange(start, end), "message", hint: hint)
    }

    @Test func `a diagnostic shows place, line, underline and hint on separate lines`() {
        let diagnostic = error("a;\nb;\nrealm xtech {\n", 12, 17, hint: "a hint")
        #expect(
            diagnostic.rendered == """
                realms.conf:3:7: error: message
                    realm xtech {
                          ^~~~~
                    hint: a hint
                """
        )
        #expect(diagnostic.description == diagnostic.rendered)
    }

    @Test func `a diagnostic without a hint ends with the underline`() {
        #expect(error("abc", 1, 2).rendered == "realms.conf:1:2: error: message\n    abc\n     ^")
    }

    @Test func `a warning is marked as a warning`() {
        let warning = SourceText(name: "f", "abc").warning(at: SourceRange(0, 3), "message")
        #expect(warning.rendered == "f:1:1: warning: message\n    abc\n    ^~~")
    }

    @Test(arguments: [
        "    search-bind-password hunter2;", "db-password\t\"hunter2\"", "Password=hunter2", "CLIENT-SECRET  hunter2 ;",
        "  bindPassword=\"hunter2\"", "database \"host=db password=hunter2\"; x",
        "database \"host=db password = hunter2\";",
        "url https://ann:hunter2@example.org/;", "url \"postgresql://ann:hunter/2@db\";",
        "token hunter2; bogus 1;", "code=\"hunter2\"", "bindCredential=hunter2", "api-key hunter2", "apiKey=hunter2",
        "java.naming.security.credentials=\"hunter2\"", "bind-pwd hunter2;", "key-passphrase hunter2;",
        "search-bind-passwd hunter2;", "\"search-bind-password\" hunter2;", "search-bind-password: hunter2;",
        "password/**/=hunter2", "password /* old */ = hunter2", "password=#hunter2", "password= #hunter2",
        "search-bind-password ${env:NOPE}hunter2;", "search-bind-password \"${env:A}\" hunter2;",
        "search-bind-password \"${{hunter2}}\";", "search-bind-password hun${x} ter2;",
        "search-bind-password {hunter2};", "search-bind-password ;hunter2;",
        "url https://hunter2@example.org/;", "url https://example.org/?key=hunter2;",
    ])
    func `a line that may contain a password is not shown`(line: String) {
        let diagnostic = error("a;\n\(line)\n", 3, 6, hint: "a hint")
        #expect(diagnostic.rendered == "realms.conf:2:1: error: message\n    hint: a hint")
        #expect(diagnostic.lineText == "" && diagnostic.indent == 0 && diagnostic.length == 0)
        let warning = SourceText(name: "f", line).warning(at: SourceRange(0, 3), "message")
        #expect(!warning.rendered.contains("hunter"))
    }

    @Test(arguments: [
        "text \"Wrong user name or password\";", "passwords", "key /etc/key.pem;", "client-key \"tls/client.pem\";",
        "identity-token { x y; }", "outcomes 401:wrong-credentials 423:locked;", "monkey 1;", "unicode yes;",
        "require one-time-code;", "change-expired-password maybe;", "M required token=\"${env:A}\" bogus=1;",
        "search-bind-password \"${file:a}${file:b}\"; # both", "token \"${file:a}\" \"${file:b}\";",
        "password-query \"SELECT 1\";", "search-bind-password ${file:ldap.secret};", "db-password \"${env:X}\";",
        "passwords { }", "url https://example.org:8443/a", "url http://[::1]:80/", "db-password ;",
    ])
    func `a line that only looks like one with a password is shown`(line: String) {
        #expect(error(line, 0, 1).lineText == line)
    }

    @Test(arguments: [
        "search-bind-password\n\"hunter2;", "search-bind-password\n  hunter2 }",
        "search-bind-password # old\n hun\"ter2;",
        "search-bind-password\n\"hunter2${env:NOPE}\"", "M required password=\r\n hunter2 bogus=1;",
        "password \"a;\nhunter2\";", "password /*\n*/ = hunter2",
    ])
    func `a password on the next line is not shown`(text: String) {
        let start = UInt32(text.utf8.count - 1)
        let diagnostic = error(text, start, start)
        #expect(diagnostic.line == 2)
        #expect(diagnostic.lineText == "", "\(diagnostic.lineText)")
    }

    @Test func `the lines before and after a password are shown`() {
        let text = "url a;\nsearch-bind-password\n  hunter2;\nbase-dn b;"
        #expect(error(text, 0, 1).lineText == "url a;")
        #expect(error(text, 7, 8).lineText == "search-bind-password")
        #expect(error(text, 32, 33).lineText == "")
        #expect(error(text, 39, 40).lineText == "base-dn b;")
        // A comment does not have its value on the next line.
        #expect(error("# the password\nbase-dn b;", 15, 16).lineText == "base-dn b;")
    }

    @Test func `the end of a long password is not shown`() {
        let value = String(repeating: "x", count: 5000) + "hunter2"
        let text = "password \"\(value)\"; bogus 1;"
        let start = UInt32(text.utf8.count - 8)
        #expect(error(text, start, start + 5).lineText == "")
        let large = String(repeating: "x", count: 20_000)
        let diagnostic = SourceText(name: "f", "password \"\(large)\"; b;").error(
            at: SourceRange(20_013, 20_014),
            large
        )
        #expect(diagnostic.rendered == "f:1:20014: error: a mistake in a text that may contain a secret")
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: ["password ", "password \"", "token /*", "key ${", "x://@", "key # \n", "code //"]
    )
    func `a large text with many names is searched in linear time`(part: String) {
        let text = SourceText(name: "f", String(repeating: part, count: 100_000))
        #expect(text.error(at: SourceRange(1, 2), "m").line == 1)
    }

    @Test(arguments: [
        ("password hun;ter2;", "unknown statement ter2", "unknown statement (hidden)"),
        ("password=hunter2!x", "`!` is not allowed", "`!` is not allowed"),
        ("password {hunter2};", "missing `;` after `hunter2`", "missing `;` after (hidden)"),
        ("password \"hun${ter2}\";", "the property `ter2` is not defined", "the property (hidden) is not defined"),
        ("password 'hun ter2';", "a 'hun ter2' b", "a (hidden) b"),
        ("password=\"\\150unter2\"", "not hunter2", "not (hidden)"),
        ("password \"hun\\ter2\";", "not hunter2", "not (hidden)"),
        ("password пароль;", "not `пароль`", "not (hidden)"),
        ("password !$%&;", "not `!$%&`, but `;`", "not (hidden) but `;`"),
        ("password hun\u{7}ter2;", "not hun\u{7}ter2", "not (hidden)"),
        ("password k; tries 12;", "tries is not 12, unknown `;`", "tries is not 12, unknown `;`"),
        ("M a password=hunter2 bogus=12;", "M has no option bogus", "M has no option bogus"),
        ("url https://ann:hunter2@x; b", "not https://ann:hunter2@x;", "not (hidden)"),
    ])
    func `a message does not contain the words of a password`(line: String, message: String, expected: String) {
        let diagnostic = SourceText(name: "f", line).error(at: SourceRange(9, 10), message)
        #expect(diagnostic.message == expected)
        #expect(diagnostic.lineText == "")
    }

    @Test func `a hint with a word of a password is left out`() {
        let text = SourceText(name: "f", "password=hunter2!x")
        #expect(text.error(at: SourceRange(9, 18), "m", hint: "write \"hunter2!x\"").hint == nil)
        #expect(text.error(at: SourceRange(9, 18), "m", hint: "write it in quotes").hint == "write it in quotes")
    }

    @Test func `the value of a misspelled name that is like password is not shown`() {
        let text = SourceText(name: "f", "\nsearch-bind-pasword hunter2;")
        let hint = "did you mean search-bind-password?"
        let diagnostic = text.error(at: SourceRange(1, 20), "unknown search-bind-pasword hunter2", hint: hint)
        #expect(
            diagnostic.rendered
                == "f:2:1: error: unknown search-bind-pasword (hidden)\n    hint: did you mean search-bind-password?"
        )
    }

    @Test func `a diagnostic shows references in the place of their values`() {
        let text = SourceText(name: "f", "size \"x${file:pw}\";")
        let diagnostic = text.error(
            at: SourceRange(5, 17),
            "not xhunter2, 2hunter2 or 'xhunter2'",
            hint: "write xhunter2"
        )
        let shown = diagnostic.replacing("xhunter2", by: "x${file:pw}", hidesParts: true)
        #expect(shown.message == "not x${file:pw}, (hidden) or 'x${file:pw}'")
        #expect(shown.hint == "write x${file:pw}")
        #expect(shown.lineText == diagnostic.lineText)
        let other = diagnostic.replacing("xhunter2", by: "x${file:pw}", hidesParts: false)
        #expect(other.message == "not x${file:pw}, 2hunter2 or 'x${file:pw}'")
    }

    @Test func `a value of references only is not written in the text`() {
        func isReferences(_ text: String) -> Bool {
            SourceText(name: "f", text).consistsOfReferences(in: SourceRange(0, UInt32(text.utf8.count)))
        }
        for text in ["${pw}", "\"${file:a b}\"", "\"${env:A}${env:B}\""] { #expect(isReferences(text), "\(text)") }
        for text in ["", "\"\"", "x", "s3${env:A}", "\"${env:A} \"", "${env:A", "${{a}}", "\"a"] {
            #expect(!isReferences(text), "\(text)")
        }
    }

    @Test func `a line whose confidential part the caller knows is not shown`() {
        let text = SourceText(name: "f", "key hunter2;")
        #expect(text.error(at: SourceRange(4, 11), "message", isConfidential: true).rendered == "f:1:5: error: message")
    }

    @Test func `tabs are kept, so that the underline is below its word`() {
        #expect(error("\ta\tbc;", 3, 5).rendered == "realms.conf:1:4: error: message\n    \ta\tbc;\n    \t \t^~")
    }

    @Test func `lines end at LF, CRLF and CR`() {
        let text = "a\r\nb\rc\nd"
        #expect(error(text, 3, 4).rendered == "realms.conf:2:1: error: message\n    b\n    ^")
        #expect(error(text, 5, 6).rendered == "realms.conf:3:1: error: message\n    c\n    ^")
        #expect(error(text, 7, 8).rendered == "realms.conf:4:1: error: message\n    d\n    ^")
    }

    @Test func `the end of a file is after its last character, or on the empty last line`() {
        #expect(error("abc", 3, 3).rendered == "realms.conf:1:4: error: message\n    abc\n       ^")
        #expect(error("abc\n", 4, 4).rendered == "realms.conf:2:1: error: message\n    \n    ^")
        // A diagnostic about an empty or unreadable file has no line.
        #expect(error("", 0, 0).rendered == "realms.conf: error: message")
        #expect(error("abc", 99, 120).rendered == "realms.conf:1:4: error: message\n    abc\n       ^")
    }

    @Test func `columns and underlines count scalars, not bytes`() {
        let diagnostic = error("é中😀x", 9, 10)
        #expect(diagnostic.column == 4)
        #expect(diagnostic.rendered == "realms.conf:1:4: error: message\n    é中😀x\n       ^")
        #expect(error("é中😀x", 0, 9).length == 3)
    }

    @Test func `an underline ends at the end of its line`() {
        #expect(error("a bcd\nef", 2, 8).rendered == "realms.conf:1:3: error: message\n    a bcd\n      ^~~")
    }

    @Test func `control characters are replaced by visible characters`() {
        #expect(
            error("a\u{1B}[2J\u{7F}\u{85}\u{202E}b\0", 1, 2).rendered
                == "realms.conf:1:2: error: message\n    a\u{241B}[2J\u{2421}??b\u{2400}\n     ^"
        )
    }

    @Test func `control characters in names, messages and hints are replaced`() {
        let diagnostic = SourceText(name: "a\nb", "x").error(at: SourceRange(0, 1), "m\u{1B}", hint: "h\r")
        #expect(diagnostic.rendered == "a\u{240A}b:1:1: error: m\u{241B}\n    x\n    ^\n    hint: h\u{240D}")
    }

    @Test func `malformed bytes are replaced`() {
        let text = SourceText(name: "f", bytes: [0x61, 0xFF, 0x62])
        #expect(text.error(at: SourceRange(1, 2), "m").rendered == "f:1:2: error: m\n    a\u{FFFD}b\n     ^")
    }

    @Test func `a long line is cut around the place`() {
        let line = String(repeating: "a", count: 300) + "HERE" + String(repeating: "b", count: 300)
        let diagnostic = error(line, 300, 304)
        let shown = "..." + String(repeating: "a", count: 31) + "HERE" + String(repeating: "b", count: 59) + "..."
        #expect(diagnostic.lineText == shown)
        #expect(diagnostic.lineText.count == 100)
        #expect(diagnostic.column == 301)
        #expect(diagnostic.rendered.hasSuffix("\n    " + String(repeating: " ", count: 34) + "^~~~"))
    }

    @Test func `if the place is near one end of a long line, only the other end is cut`() {
        let line = "HERE" + String(repeating: "b", count: 300)
        #expect(error(line, 0, 4).lineText == "HERE" + String(repeating: "b", count: 90) + "...")
        let other = String(repeating: "b", count: 300) + "HERE"
        let last = error(other, 300, 304)
        #expect(last.lineText == "..." + String(repeating: "b", count: 90) + "HERE")
        #expect(last.rendered.hasSuffix("\n    " + String(repeating: " ", count: 93) + "^~~~"))
    }

    @Test func `a very long line of wide characters is cut at whole characters`() {
        let text = SourceText(name: "f", String(repeating: "中", count: 5000))
        let diagnostic = text.error(at: SourceRange(6000, 6003), "m")
        #expect(diagnostic.column == 2001)
        #expect(diagnostic.lineText.unicodeScalars.count == 100)
        #expect(!diagnostic.lineText.contains("\u{FFFD}"))
    }

    @Test func `an underline ends at the end of a line that is cut`() {
        let diagnostic = error(String(repeating: "a", count: 300), 0, 300)
        #expect(diagnostic.length == 94)
        #expect(diagnostic.rendered.hasSuffix("\n    ^" + String(repeating: "~", count: 93)))
    }

    @Test func `line ends in comments and strings are counted`() {
        let text = SourceText(name: "login.conf", "/*\n\n*/\nA {\n M required a=\"x\\\ny\"\n b; };")
        let diagnostics = LoginConf.parse(text, expansion: .none).diagnostics
        #expect(diagnostics.map { [$0.line, $0.column] } == [[7, 2]])
    }

    @Test func `configuration errors show warnings too, and cannot be created without an error`() {
        let text = SourceText(name: "f", "ab")
        let warning = text.warning(at: SourceRange(0, 1), "w")
        let error = text.error(at: SourceRange(1, 2), "e")
        #expect(ConfigurationErrors([]) == nil)
        #expect(ConfigurationErrors([warning]) == nil)
        let errors = ConfigurationErrors([warning, error])
        #expect(errors?.description == "f:1:1: warning: w\n    ab\n    ^\nf:1:2: error: e\n    ab\n     ^")
        #expect(ConfigurationErrors("e", at: SourceRange(1, 2), in: text).diagnostics == [error])
    }
}

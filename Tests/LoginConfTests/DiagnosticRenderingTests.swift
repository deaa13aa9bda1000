// SPDX-License-Identifier: Apache-2.0

import LoginConf
import TestTools
import Testing

/// Tests the exact text of diagnostics.
@Suite struct DiagnosticRenderingTests {
    private func error(_ text: String, _ start: Int, _ end: Int, hint: String? = nil) -> Diagnostic {
        Self.text(text, name: "realms.conf").error(at: SourceRange(start, end), "message", hint: hint)
    }

    /// Returns a text whose first words are names of harmless statements.
    private static func text(_ text: String, name: String = "f") -> SourceText {
        let firstWords = text.split { $0.isNewline || ";{}".contains($0) }.compactMap { line in
            line.split { $0.unicodeScalars.allSatisfy { $0.value <= 0x20 } }.first.map(String.init)
        }
        return SourceText(name: name, text, names: KnownNames(harmless: Set(firstWords)))
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
        let warning = Self.text("abc").warning(at: SourceRange(0, 3), "message")
        #expect(warning.rendered == "f:1:1: warning: message\n    abc\n    ^~~")
    }

    private static let names = KnownNames(
        harmless: ["note", "url", "depth", "debug"],
        secret: ["password", "database"],
        words: ["Module", "required"]
    )

    /// Returns the line below an error at the first `HERE`, which is not a part of the text.
    private static func shown(_ text: String, showing shownPlace: ShownPlace = .ifKnown) -> String {
        let parts = text.split(separator: "HERE", omittingEmptySubsequences: false)
        let source = SourceText(name: "f", parts.joined(), names: names)
        let start = parts[0].utf8.count
        let place = SourceRange(start, start + (parts.count > 2 ? parts[1].utf8.count : 0))
        let diagnostic = source.error(at: place, "m", showing: shownPlace)
        let mark = diagnostic.lineText.unicodeScalars.dropFirst(diagnostic.indent).prefix(diagnostic.length)
        return diagnostic.lineText + " | " + String(String.UnicodeScalarView(mark))
    }

    @Test(arguments: [
        // The statement at hand, up to the place, with the signs after it.
        ("note a HEREbHERE;", "note a b; | b"),
        ("HEREnoteHERE a;", "note ... | note"),
        ("url x; note HEREaHERE b; }", "... note a ... | a"),
        ("url x { note HEREaHERE; }", "... note a; } | a"),
        ("\tnote \"a b\" HEREcHERE {", "\tnote \"a b\" c { | c"),
        ("note HEREaHERE; # hunter2", "note a... | a"),
        ("note\n  aHERE\n}", "  a | "),
        ("note a # b\n  HEREbHERE;", "  b; | b"),
        // The value of a secret, of an unknown name, and a superfluous word.
        ("password HEREhunter2HERE;", "password ... | ..."),
        ("pasword hunter2HERE", "pasword ... | ..."),
        ("HEREpaswordHERE hunter2;", "pasword ... | pasword"),
        ("password hunter2 HEREnoteHERE;", "... note; | note"),
        ("HEREvaultHERE hunter2;", " | "),
        ("vault HEREhunter2HERE;", " | "),
        ("vault\n HEREhunter2HERE;", " | "),
        // A missing `;` or quotation mark.
        ("note a password HEREhunter2HERE;", "note a password ... | ..."),
        ("note a\n password HEREhunter2HERE;", " password ... | ..."),
        ("note a\n pasword HEREhunter2HERE;", " pasword ... | ..."),
        ("note HERE\"a; password hunter2;HERE", "note ... | ..."),
        // Options of modules.
        ("Module required depth=HERE1aHERE token=x;", "Module required depth=1a ... | 1a"),
        ("Module required password=HEREhunter2HERE;", "Module required password=... | ..."),
        ("Module required depth=1 password=x HEREdebugHERE;", "... debug; | debug"),
        ("Module required depth=\"1\" vault=hunter2 HEREotherHERE=x;", " | "),
        ("Module required // password\n depth=HERE1HERE", " depth=1 | 1"),
    ])
    func `a line is shown up to the place, with its names and harmless values only`(text: String, shown: String) {
        #expect(Self.shown(text) == shown)
    }

    @Test func `a place that may be a moved value is not shown`() {
        #expect(Self.shown("note a HEREhunter2HERE;", showing: .never) == "note a ... | ...")
        #expect(Self.shown("noteHERE;", showing: .never) == "note; | ;")
    }

    @Test func `a text without known names is not shown`() {
        let diagnostic = SourceText(name: "f", "\nnote a;").error(at: SourceRange(1, 5), "m", hint: "h")
        #expect(diagnostic.rendered == "f:2:1: error: m\n    hint: h")
        #expect(diagnostic.lineText == "" && diagnostic.indent == 0 && diagnostic.length == 0)
    }

    @Test func `the name of a secret within a harmless statement is found before a place`() {
        func name(_ text: String) -> String? {
            let source = SourceText(name: "f", text, names: Self.names)
            let end = text.utf8.count
            return source.secretName(before: SourceRange(end - 1, end)).map(source.string)
        }
        #expect(name("note a password x") == "password")
        #expect(name("note a\n  pasword x") == "pasword")
        for text in ["note a; password x", "note \"password\" x", "password x", "note password"] {
            #expect(name(text) == nil, "\(text)")
        }
    }

    @Test(arguments: ["note ", "note \"", "note=", "a/*", "x \n", "# \n", "//", "pasword "])
    func `a large text is read in constant time for each diagnostic`(part: String) async {
        func cost(_ count: Int) -> Double {
            let text = SourceText(name: "f", String(repeating: part, count: count), names: Self.names)
            let end = text.bytes.count
            _ = text.location(of: end)
            return ProcessorTime.measureThread {
                for _ in 0..<20 { #expect(text.error(at: SourceRange(end - 1, end), "m").line > 0) }
            }
        }
        let ratio = await CostRatio(below: 4, of: { cost(40_000) }, to: { cost(10_000) })
        #expect(ratio.value < 4, "\(ratio)")
    }

    @Test func `a diagnostic for a log has one line, without a line of the configuration`() {
        let text = Self.text("a;\nb c;")
        #expect(
            text.error(at: SourceRange(3, 4), "unknown b", hint: "write a").logLine
                == "f:2:1: error: unknown b; hint: write a"
        )
        #expect(Self.text("").warning(at: .none, "m").logLine == "f: warning: m")
        let errors = ConfigurationErrors("m", at: SourceRange(3, 4), in: text)
        #expect(errors.logText == "f:2:1: error: m")
    }

    @Test func `a diagnostic about a text that a program has made shows the statement, and no line of a file`() {
        let text = SourceText(ofProgram: "realms in code", "a;\n\tnote x;\n  password y;", names: Self.names)
        let error = text.error(at: SourceRange(9, 10), "unknown x", hint: "write a")
        #expect(error.logLine.hasPrefix("realms in code: error: unknown x in `note x"), "\(error.logLine)")
        #expect(error.logLine.hasSuffix("`; hint: write a"), "\(error.logLine)")
        #expect(error.rendered.hasPrefix("realms in code: error: unknown x\n    \tnote x"), "\(error.rendered)")
        #expect(text.place(of: SourceRange(9, 10)) == "realms in code")
        let hidden = text.error(at: SourceRange(23, 24), "no value").logLine
        #expect(hidden.hasPrefix("realms in code: error: no value") && !hidden.contains("y"), "\(hidden)")
    }

    @Test func `diagnostics about a text show references in the place of the values that are hidden`() {
        let text = Self.text("key \"${file:k}\";\nsize 2;")
        text.hide("-----BEGIN\nabcd\n", writtenAs: "${file:k}", at: SourceRange(4, 15))
        text.hide("abc", writtenAs: "${file:short}", at: SourceRange(4, 15))
        text.hide("plain", writtenAs: "plain", at: SourceRange(4, 15))
        let shown = text.error(at: SourceRange(4, 15), "-----BEGIN\nabcd\n cannot be read, plain")
        #expect(shown.message == "${file:k} cannot be read, plain")
        #expect(text.warning(at: SourceRange(17, 21), "abc, not 'abc'").message == "abc, not 'abc'")
        let other = SourceText(name: "g", "a").error(at: .none, "no -----BEGIN\nabcd\n here")
        #expect(text.hidingValues(in: other).message == "no ${file:k} here")
    }

    @Test(arguments: [
        ("not xhunter2 or 'xhunter2'", "not x${file:pw} or 'x${file:pw}'"),
        ("not 2hunter2", "the value of x${file:pw} cannot be used here"),
        ("unter2 is no port", "the value of x${file:pw} cannot be used here"),
        ("er2 is no port", "er2 is no port"),
    ])
    func `a diagnostic shows references in the place of their values`(message: String, shown: String) {
        let text = Self.text("size \"x${file:pw}\";\nkey 2;")
        let place = SourceRange(5, 17)
        text.hide("xhunter2", writtenAs: "x${file:pw}", at: place)
        let diagnostic = text.error(at: place, message, hint: "write xhunter2")
        #expect(diagnostic.message == shown)
        #expect(diagnostic.hint == (message == shown || message.hasPrefix("not x") ? "write x${file:pw}" : nil))
        let other = text.error(at: SourceRange(20, 23), "not xhunter2, 2hunter2")
        #expect(other.message == "not x${file:pw}, 2hunter2")
    }

    @Test func `a value of references only is not written in the text`() {
        func isReferences(_ text: String) -> Bool {
            SourceText(name: "f", text).consistsOfReferences(in: SourceRange(0, text.utf8.count))
        }
        for text in ["${pw}", "\"${file:a b}\"", "\"${env:A}${env:B}\""] { #expect(isReferences(text), "\(text)") }
        for text in ["", "\"\"", "x", "s3${env:A}", "\"${env:A} \"", "${env:A", "${{a}}", "\"a"] {
            #expect(!isReferences(text), "\(text)")
        }
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
        #expect(error("abc\n", 4, 4).rendered == "realms.conf:2:1: error: message")
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
            error("a\u{1B}[2J\u{7F}\u{85}\u{202E}b\0", 2, 12).rendered
                == "realms.conf:1:3: error: message\n    a\u{241B}[2J\u{2421}??b\u{2400}\n      ^~~~~~~"
        )
    }

    @Test func `control characters in names, messages and hints are replaced`() {
        let diagnostic = Self.text("x", name: "a\nb").error(at: SourceRange(0, 1), "m\u{1B}", hint: "h\r")
        #expect(diagnostic.rendered == "a\u{240A}b:1:1: error: m\u{241B}\n    x\n    ^\n    hint: h\u{240D}")
    }

    @Test func `malformed bytes are replaced`() {
        let bytes: [UInt8] = [0x61, 0xFF, 0x62]
        let name = String(decoding: bytes, as: UTF8.self)
        let text = SourceText(name: "f", bytes: bytes, names: KnownNames(harmless: [name]))
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
        let text = Self.text("a " + String(repeating: "中", count: 5000))
        let diagnostic = text.error(at: SourceRange(3002, 3005), "m")
        #expect(diagnostic.column == 1003)
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
        let text = Self.text("ab")
        let warning = text.warning(at: SourceRange(0, 1), "w")
        let error = text.error(at: SourceRange(1, 2), "e")
        #expect(ConfigurationErrors([]) == nil)
        #expect(ConfigurationErrors([warning]) == nil)
        let errors = ConfigurationErrors([warning, error])
        #expect(errors?.description == "f:1:1: warning: w\n    ab\n    ^\nf:1:2: error: e\n    ab\n     ^")
        #expect(ConfigurationErrors("e", at: SourceRange(1, 2), in: text).diagnostics == [error])
    }
}

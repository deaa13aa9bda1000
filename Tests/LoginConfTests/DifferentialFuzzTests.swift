// SPDX-License-Identifier: Apache-2.0

import LoginConf
import Testing

/// Compares the parser with the model of the JDK on damaged texts.
@Suite struct DifferentialFuzzTests {
    static let pieces = [
        "A { M required; };", "B { N optional a=b; };", "{", "}", ";", "};", "=", "\"", "'", "\\", "\\\"", "\\n",
        "\\101", "\\477",
        "\\\n", "\\\r", "\\\r\n", "\n", "\r", "\r\n", " ", "\t", "\0", "\u{1}", "\u{7F}", "\u{85}", "\u{9F}", "\u{A0}",
        "\u{FEFF}", "\u{2028}", "\u{FFFD}", "\u{FFFF}", "\u{1F600}", "é", "e\u{301}", "\u{131}", "//", "/*", "*/", "/",
        "#",
        "${t.x}", "${t.empty}", "${/}", "${", "${{", "}}", "${}", "${nope}", "$", "a=\"${t.x}\"", "a=b",
        "debug=\"true\"",
        "required", "REQUISITE", "sufficient", "Optional", "requ\u{131}red", "\"required\"", "M", "\"\"", "1", "-", ".",
        "-1", ",",
        ":", "@", "A", "other", "include", "x y", "a='b'", " /* c */ ", "// c\n", "/ c\n",
    ]
    static let properties = ["t.x": "XX", "t.empty": "", "t.nested": "${t.x}", "t.b": "}", "user.home": "/root"]

    static var corpus: [String] {
        get throws {
            let recorded = try RecordedCases.load().map(\.case.text)
            return recorded + Array(repeating: valid, count: 20).joined()
        }
    }

    private static var valid: [String] {
        [
            "A { M required a=\"x\" b=c; N optional; };\nother { D sufficient; };\n",
            "/* c */ \"my app\" { com.x.Foo$Bar Requisite \"k\"=\"${t.x}\\n\"; }; // end",
            "A{M required k=v;};B{N optional;};",
            "app1 {\n    com.example.LoginModule required\n        debug=true\n        url=\"ldap://h:389/${t.x}\";\n};\n",
            "_x { *.y optional \"\"=\"a\\\"b\" z=été; M SUFFICIENT a=\"\\101\\7\"; };",
        ]
    }

    @Test func `the parser rejects texts with hazards, and reads all other texts like the model`() throws {
        var mutator = Mutator(corpus: try Self.corpus, pieces: Self.pieces, seed: FuzzRounds.seed)
        let expansion = Expansion(property: { Self.properties[$0] })
        var accepted = 0
        var failures = 0
        for round in 0..<FuzzRounds.count where failures < 5 {
            let bytes = mutator.next()
            let parsed = LoginConf.parse(SourceText(name: "f", bytes: bytes), expansion: expansion)
            let model = ReferenceModel.read(bytes) { Self.properties[$0] }
            let expected = model.hazards.isEmpty ? model.entries : nil
            let actual = parsed.value?.entries.map(CanonicalEntry.init)
            if actual != nil { accepted += 1 }
            guard actual != expected else { continue }
            failures += 1
            let text = String(decoding: bytes, as: UTF8.self)
            Issue.record("round \(round), \(model.hazards): \(text.debugDescription)\n\(parsed.diagnostics)\n\(bytes)")
        }
        // If nearly all texts were rejected, the test would compare no contexts.
        #expect(accepted > FuzzRounds.count / 20)
    }

    @Test func `all diagnostics of a damaged text have a place in the text`() throws {
        var mutator = Mutator(corpus: try Self.corpus, pieces: Self.pieces, seed: FuzzRounds.seed &+ 1)
        for _ in 0..<FuzzRounds.count {
            let bytes = mutator.next()
            let parsed = LoginConf.parse(SourceText(name: "f", bytes: bytes), expansion: .none)
            expectSound(parsed.diagnostics, bytes)
        }
    }
}

/// Checks that diagnostics can be shown and lie within their text.
func expectSound(
    _ diagnostics: [Diagnostic],
    _ bytes: [UInt8],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    let lines = String(decoding: bytes, as: UTF8.self).split(omittingEmptySubsequences: false) { $0.isNewline }.count
    for diagnostic in diagnostics {
        let isSound =
            1...max(lines, 1) ~= diagnostic.line && diagnostic.column >= 1
            // A line with a secret is not shown.
            && (diagnostic.length >= 1 || diagnostic.lineText.isEmpty)
            && diagnostic.lineText.unicodeScalars.count <= 100
            && diagnostic.indent <= diagnostic.lineText.unicodeScalars.count
            && !diagnostic.rendered.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" && $0 != "\t" }
        #expect(isSound, "\(diagnostic) of \(bytes)", sourceLocation: sourceLocation)
    }
}

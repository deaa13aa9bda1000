// SPDX-License-Identifier: Apache-2.0

import LoginConf
import RealmKit
import Testing

@Suite struct LoginConfTests {
    private func parse(_ text: String, _ expansion: Expansion = .none) -> Parsed<LoginConfFile> {
        LoginConf.parse(SourceText(name: "login.conf", text), expansion: expansion)
    }

    @Test func `a context with one module is read`() throws {
        let text = "xtechMyRealm { org.xtech.examples.gfloginmodule.MyLoginModule required; };"
        let entries = try parse(text).get().entries
        #expect(entries.map(\.name) == ["xtechMyRealm"])
        #expect(entries[0].modules.map(\.className) == ["org.xtech.examples.gfloginmodule.MyLoginModule"])
        #expect(entries[0].modules[0].flag == .required)
        #expect(entries[0].modules[0].options.isEmpty)
    }

    @Test func `entries, modules and options keep their order and their places`() throws {
        let source = SourceText(
            name: "f",
            "Z { M required k=\"v w\"; N Optional; };\n\"a b\" { O sufficient b=1x a=c; };"
        )
        #expect(LoginConf.parse(source, expansion: .none).hasErrors)
        let text = SourceText(
            name: "f",
            "Z { M required k=\"v w\"; N Optional; };\n\"a b\" { O sufficient b=x1 a=c; };"
        )
        let entries = try LoginConf.parse(text, expansion: .none).get().entries
        #expect(entries.map(\.name) == ["Z", "a b"])
        #expect(text.string(in: entries[1].nameRange) == "\"a b\"")
        let modules = entries.flatMap(\.modules)
        #expect(modules.map(\.className) == ["M", "N", "O"])
        #expect(modules.map(\.flag) == [.required, .optional, .sufficient])
        #expect(modules.map { text.string(in: $0.classRange) } == ["M", "N", "O"])
        #expect(modules.map { text.string(in: $0.flagRange) } == ["required", "Optional", "sufficient"])
        let options = modules.flatMap(\.options)
        #expect(options.map(\.key) == ["k", "b", "a"])
        #expect(options.map(\.value) == ["v w", "x1", "c"])
        #expect(options.map { text.string(in: $0.keyRange) } == ["k", "b", "a"])
        #expect(options.map { text.string(in: $0.valueRange) } == ["\"v w\"", "x1", "c"])
    }

    /// As in the JDK, where the asterisk of the beginning does not end the comment.
    @Test func `a comment that begins with an asterisk and a slash goes on`() throws {
        let text = "A { /*/ M required; /**/ N required; /***/ O required; /* /*/ };"
        let modules = try parse(text).get().entries[0].modules
        #expect(modules.map(\.className) == ["N", "O"])
        #expect(parse("A { N required; /*/ };").hasErrors)
    }

    @Test func `if an option key is set twice, the last value is used and a warning is given`() throws {
        let parsed = parse("A { M required a=b x=y a=c; };")
        #expect(try parsed.get().entries[0].modules[0].options.map { "\($0.key)=\($0.value)" } == ["a=c", "x=y"])
        #expect(parsed.diagnostics.map(\.severity) == [.warning])
        #expect(parsed.value != nil)
    }

    @Test func `repeated keys are found in a module with many options`() throws {
        let keys = (0..<60).map { "k\($0)" } + ["k3", "k50"]
        let parsed = parse("A { M required \(keys.map { "\($0)=v" }.joined(separator: " ")) k50=w; };")
        let options = try parsed.get().entries[0].modules[0].options
        #expect(options.map(\.key) == (0..<60).map { "k\($0)" })
        #expect(options[50].value == "w")
        #expect(parsed.diagnostics.count == 3)
    }

    @Test func `canonically equivalent texts are different names and keys, as in the JDK`() throws {
        let parsed = parse("\u{E9} { M required \u{E9}=a e\u{301}=b; };\ne\u{301} { M required; };")
        #expect(parsed.diagnostics.isEmpty)
        #expect(try parsed.get().entries.count == 2)
        #expect(try parsed.get().entries[0].modules[0].options.count == 2)
    }

    @Test func `a context name that occurs in two files is an error`() {
        var names = LoginContextNames()
        let one = SourceText(name: "one.conf", "A { M required; };\nB { M required; };")
        let two = SourceText(name: "two.conf", "C { M required; };\n  B { M required; };", names: .ofTests)
        #expect(!LoginConf.parse(one, expansion: .none, names: &names).hasErrors)
        let parsed = LoginConf.parse(two, expansion: .none, names: &names)
        #expect(
            parsed.diagnostics.map(\.rendered) == [
                """
                two.conf:2:3: error: a second login context `B`
                      B ...
                      ^
                    hint: the first one is at one.conf:2:1
                """
            ]
        )
        #expect(parsed.value == nil)
        let inline = SourceText(name: "realms.conf", "login A { }")
        #expect(names.add("A", at: SourceRange(6, 7), in: inline)?.hint == "the first one is at one.conf:1:1")
        #expect(names.add("D", at: SourceRange(6, 7), in: inline) == nil)
    }

    @Test func `a repeated context name is found in a file with hundreds of contexts`() {
        let text = (0..<700).map { "app\($0) { M required; };\n" }.joined()
        #expect(parse(text).value?.entries.count == 700)
        #expect(parse(text + "app699 { M required; };").diagnostics.map(\.line) == [701])
    }

    @Test func `all errors of a file are reported, in the order of the text`() {
        let parsed = parse("A { M requird x=1; };\nB { N; };\nC { O required y=z }\nA { M required; };")
        let errors = parsed.diagnostics
        #expect(errors.map { [$0.line, $0.column] } == [[1, 7], [2, 6], [3, 19], [3, 21], [4, 1]])
        #expect(parsed.value == nil)
        #expect(throws: ConfigurationErrors.self) { try parsed.get() }
        #expect(parsed.partial.entries.map(\.name) == ["A", "B", "C", "A"])
    }

    @Test(arguments: [
        "A { M x; };\n", "A { M required; };\n", "A { M required a=\"${x}\"; };\n", "A { M required;\n", "'\n", "\"x\n",
        "; { ",
        "A { M required a=b a=b; };\n",
    ])
    func `the number of reported errors is limited`(_ piece: String) {
        let parsed = parse(String(repeating: piece, count: 10_000))
        #expect(parsed.hasErrors)
        #expect(parsed.diagnostics.count <= 301)
    }

    @Test func `after 100 errors a last diagnostic says that there are more errors`() {
        let parsed = parse(String(repeating: "A { M x; };\n", count: 1000))
        #expect(parsed.diagnostics.count == 101)
        #expect(parsed.diagnostics.last?.message == "too many errors; the rest is not shown")
    }

    @Test func `the number of reported warnings is limited, and the text is still accepted`() throws {
        let parsed = parse("A { M required " + String(repeating: "a=b ", count: 20_000) + "; };")
        #expect(parsed.diagnostics.count == 200)
        #expect(try parsed.get().entries[0].modules[0].options.count == 1)
    }

    @Test func `an error is reported after many warnings`() {
        let open = "A { M required " + String(repeating: "a=b ", count: 300) + ";"
        #expect(parse(open).hasErrors)
        #expect(parse(open + "}").hasErrors)
        #expect(parse(open + "}; /*").hasErrors)
        #expect(parse(open + "}; B { M required x=\"${nope}\"; };").hasErrors)
        #expect(parse(open + "}; A { M required; };").hasErrors)
    }

    @Test func `bytes that are not UTF-8 are an error at their place`() {
        let bytes = Array("A {\n M".utf8) + [0xC3, 0x28] + Array(" required; };".utf8)
        let parsed = LoginConf.parse(SourceText(name: "f", bytes: bytes), expansion: .none)
        #expect(parsed.diagnostics.map { "\($0.line):\($0.column) \($0.message)" } == ["2:3 the text is not UTF-8"])
        #expect(parsed.value == nil)
    }

    @Test func `a text of more than 64 MiB is rejected`() {
        let text = SourceText(name: "f", bytes: Array(repeating: 0x20, count: SourceText.maximumSize + 1))
        #expect(LoginConf.parse(text, expansion: .none).diagnostics.map(\.message) == ["the text has more than 64 MiB"])
        #expect(RealmsConf.parse(text).hasErrors)
    }

    @Test(arguments: ["required", "REQUIRED", "ReQuIrEd", "\"required\"", "\"re\\161uired\""])
    func `a flag may be written in any case and in quotes`(_ flag: String) throws {
        #expect(try parse("A { M \(flag); };").get().entries[0].modules[0].flag == .required)
    }

    @Test(arguments: ["requ", "requiredd", "\"required \"", "requisit", "sufficien", "optionalx", "\"\""])
    func `other words are not control flags`(_ flag: String) {
        #expect(parse("A { M \(flag); };").diagnostics.count == 1)
    }
}

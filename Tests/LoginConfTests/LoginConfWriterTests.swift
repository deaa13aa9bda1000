// SPDX-License-Identifier: Apache-2.0

import RealmKit
import SeededRandom
import Testing

@testable import LoginConf

@Suite struct LoginConfWriterTests {
    private func entry(_ name: String, value: String, key: String = "k", className: String = "M") -> LoginEntry {
        let option = ModuleOption(key: key, value: value)
        return LoginEntry(name: name, modules: [ModuleEntry(className: className, flag: .requisite, options: [option])])
    }

    @Test func `option values are always in quotes, other words only if necessary`() throws {
        let entries = [
            entry("my app", value: "a\"b\\c\n\u{1}"), entry("b.c-d", value: "", key: "1", className: "x.Y$Z"),
        ]
        #expect(
            try LoginConfWriter.text(of: entries) == #"""
                "my app" {
                    M requisite k="a\"b\\c\n\001";
                };
                b.c-d {
                    x.Y$Z requisite "1"="";
                };

                """#
        )
    }

    @Test(arguments: ["${a}", "x${/}", "${}", "${{a}}${b}"])
    func `a value with a reference cannot be written`(_ value: String) {
        #expect(throws: LoginConfWriter.Unwritable.expands(key: "k", context: "A")) {
            try LoginConfWriter.text(of: [entry("A", value: value)])
        }
    }

    @Test(arguments: [
        "${{a}}", "${a", "$a", "}", "${{a ${b}", "a\u{FEFF}", "\u{9F}7", "\u{1F600}", "'", "//", "/*", "e\u{301}",
    ])
    func `values without references are read back unchanged`(_ value: String) throws {
        let text = try LoginConfWriter.text(of: [entry(value, value: value, key: value, className: value)])
        let file = try LoginConf.parse(SourceText(name: "f", text), expansion: .none).get()
        #expect(
            file.entries.map(CanonicalEntry.init)
                == [entry(value, value: value, key: value, className: value)].map(CanonicalEntry.init)
        )
    }

    @Test func `invalid contexts cannot be written`() {
        let none = LoginEntry(name: "A", modules: [])
        #expect(throws: LoginConfWriter.Unwritable.noModules(context: "A")) { try LoginConfWriter.text(of: [none]) }
        #expect(throws: LoginConfWriter.Unwritable.noClassName(context: "A")) {
            try LoginConfWriter.text(of: [entry("A", value: "", className: "")])
        }
        #expect(throws: LoginConfWriter.Unwritable.duplicate(context: "A")) {
            try LoginConfWriter.text(of: [entry("A", value: ""), entry("A", value: "x")])
        }
    }

    @Test func `the parser and the model of the JDK read random contexts back unchanged`() throws {
        var random = Random(seed: FuzzRounds.seed)
        var written = 0
        for _ in 0..<FuzzRounds.count / 5 {
            var entries: [LoginEntry] = []
            for index in 0..<random.below(4) {
                let modules = (0...random.below(3)).map { _ in Self.module(&random) }
                entries.append(LoginEntry(name: Self.text(&random) + "\(index)", modules: modules))
            }
            guard let text = try? LoginConfWriter.text(of: entries) else { continue }
            written += 1
            let expected = entries.map(CanonicalEntry.init)
            let parsed = LoginConf.parse(SourceText(name: "f", text), expansion: .none)
            #expect(parsed.value?.entries.map(CanonicalEntry.init) == expected, "\(text)")
            let model = ReferenceModel.read(Array(text.utf8)) { _ in nil }
            #expect(model.hazards.isEmpty && model.entries == expected, "\(text)")
        }
        // If nearly all contexts were invalid, the test would compare no contexts.
        #expect(written > FuzzRounds.count / 10)
    }

    private static func module(_ random: inout Random) -> ModuleEntry {
        var options: [ModuleOption] = []
        for index in 0..<random.below(4) {
            options.append(ModuleOption(key: text(&random) + "\(index)", value: text(&random)))
        }
        return ModuleEntry(className: text(&random) + "M", flag: random.pick(ControlFlag.allCases), options: options)
    }

    private static func text(_ random: inout Random) -> String {
        let pieces = [
            "a", "Z", "0", "7", "-", ".", "_", "$", "*", "{", "}", "${", "${{", "}}", ";", "=", "\"", "'", "\\", "/",
            "//", "/*",
            "*/", "#", " ", "\n", "\r", "\r\n", "\t", "\0", "\u{1F}", "\u{7F}", "\u{80}", "\u{9F}", "\u{A0}", "é",
            "\u{301}",
            "\u{FEFF}", "\u{2028}", "\u{1F600}", "\u{FFFF}",
        ]
        return (0..<random.below(5)).map { _ in random.pick(pieces) }.joined()
    }
}

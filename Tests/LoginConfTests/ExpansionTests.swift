// SPDX-License-Identifier: Apache-2.0

import LoginConf
import Testing

@Suite struct ExpansionTests {
    private static let expansion = Expansion(
        property: { ["a": "x", "empty": "", "nested": "${a}", "env:HOME": "property"][$0] },
        environment: { ["HOME": "/root", "EMPTY": ""][$0] },
        file: { path in
            switch path {
            case "secret": .success(Array("s3cret\n".utf8))
            case "crlf": .success(Array("two\n\r\n".utf8))
            case "cr": .success(Array("x\r".utf8))
            case "bytes": .success([0xFF, 0x0A])
            case "newline": .success([0x0A])
            default: .failure(Expansion.UnreadableFile("no such file"))
            }
        }
    )

    private func option(_ value: String) -> Parsed<LoginConfFile> {
        LoginConf.parse(
            SourceText(name: "f", "A { M required x=\"\(value)\"; };", names: .ofTests),
            expansion: Self.expansion
        )
    }

    @Test(arguments: [
        ("${a}", "x"), ("b${a}c${a}", "bxcx"), ("${/}", "/"), ("${nested}", "${a}"), ("a${empty}b", "ab"), ("", ""),
        ("$a", "$a"), ("$${a}", "$x"), ("\\${a}", "x"), ("${{a}}", "${{a}}"), ("${{a}} ${a}", "${{a}} x"),
        ("${{a} ${a}", "${{a} ${a}"), ("${a", "${a"), ("${a} ${b", "x ${b"), ("${env:HOME}", "property"),
        ("\\44{a}", "x"),
    ])
    func `login.conf expands option values as the JDK does`(_ value: String, _ expected: String) throws {
        #expect(try option(value).get().entries[0].modules[0].options[0].value == expected)
    }

    @Test(arguments: [
        ("${nope}", "1:19+7 the property `nope` is not defined"),
        ("${ a }", "1:19+6 the property ` a ` is not defined"),
        ("${}", "1:19+3 `${}` has no name"),
        ("${empty}", "1:18+10 `${empty}` expands to nothing | write \"\" if an empty value is meant"),
        (
            "x${env:X}",
            "1:20+8 the property `env:X` is not defined | `${env:...}` and `${file:...}` work in realms.conf only"
        ),
        ("\\44{nope}", "1:18+11 the property `nope` is not defined"),
    ])
    func `an option value that cannot be expanded is an error at the reference`(_ value: String, _ expected: String) {
        #expect(option(value).diagnostics.map(Mistake.summary) == [expected])
    }

    @Test func `references in context names, class names and option keys are not expanded`() throws {
        let text = SourceText(name: "f", "\"${a}\" { \"${a}\" required \"${a}\"=b; };")
        let entry = try LoginConf.parse(text, expansion: Self.expansion).get().entries[0]
        #expect(entry.name == "${a}")
        #expect(entry.modules[0].className == "${a}")
        #expect(entry.modules[0].options[0].key == "${a}")
    }

    private func word(_ text: String) throws -> (RealmsConfWord, SourceText) {
        let source = SourceText(name: "realms.conf", "x \"\(text)\";", names: .ofTests)
        return (try RealmsConf.parse(source).get()[0].arguments[0], source)
    }

    @Test(arguments: [
        ("plain", "plain"), ("${a}-${/}", "x-/"), ("${env:HOME}/x", "/root/x"), ("${file:secret}", "s3cret"),
        ("${file:crlf}", "two\n"), ("${file:cr}", "x\r"), ("a${env:EMPTY}b", "ab"), ("${{a}}", "${{a}}"), ("", ""),
        ("a${file:newline}b", "ab"),
    ])
    func `references to properties, variables and files in realms.conf are replaced`(
        _ text: String,
        _ expected: String
    ) throws {
        let (word, source) = try word(text)
        #expect(try word.expanded(by: Self.expansion, in: source) == expected)
        #expect(try word.expandedBytes(by: Self.expansion, in: source) == Array(expected.utf8))
    }

    @Test(arguments: [
        ("x${env:NOPE}", "1:5+11 the environment variable `NOPE` is not set"),
        ("${file:nope}", "1:4+12 cannot read the file `nope`: no such file"),
        ("${env:}", "1:4+7 `${env:}` has no name"),
        ("${file:}", "1:4+8 `${file:}` has no name"),
        ("${file:newline}", "1:3+17 `${file:newline}` expands to nothing | write \"\" if an empty value is meant"),
        ("${env:EMPTY}", "1:3+14 `${env:EMPTY}` expands to nothing | write \"\" if an empty value is meant"),
        ("a ${env:HOME", "1:6+10 this `${` is not closed | close it with `}`"),
        ("a ${{x", "1:6+4 this `${` is not closed | close it with `}`"),
        ("${nope}", "1:4+7 the property `nope` is not defined | set it with -D NAME=VALUE"),
    ])
    func `a word that cannot be expanded is an error at the reference`(_ text: String, _ expected: String) throws {
        let (word, source) = try word(text)
        let error = #expect(throws: Diagnostic.self) { try word.expanded(by: Self.expansion, in: source) }
        #expect(error.map(Mistake.summary) == expected)
        #expect(throws: Diagnostic.self) { try word.expandedBytes(by: Self.expansion, in: source) }
    }

    @Test func `a value that is not UTF-8 can be read only as bytes`() throws {
        let (word, source) = try word("${file:bytes}")
        #expect(try word.expandedBytes(by: Self.expansion, in: source) == [0xFF])
        let error = #expect(throws: Diagnostic.self) { try word.expanded(by: Self.expansion, in: source) }
        #expect(error?.message == "`${file:bytes}` expands to bytes that are not UTF-8")
    }

    @Test func `options of a login block are not expanded by the parser, but by a separate call`() throws {
        let text = "login a { M required x=\"${env:HOME}\" y=\"${a}\" z=\"${open\" p=\"${file:secret}\"; }"
        let source = SourceText(name: "realms.conf", text)
        let statement = try RealmsConf.parse(source).get()[0]
        guard case .login(let modules) = statement.body else {
            Issue.record("no login block")
            return
        }
        #expect(modules[0].options.map(\.value) == ["${env:HOME}", "${a}", "${open", "${file:secret}"])
        let values = try modules[0].options.map { try $0.expandedBytes(by: Self.expansion, in: source) }
        #expect(values == ["/root", "x", "${open", "s3cret"].map { Array($0.utf8) })
    }

    @Test func `options of a login block that cannot be expanded are errors at the reference`() throws {
        let source = SourceText(name: "realms.conf", "login a { M required x=\"${env:NOPE}\" y=\"${nope}\" z=ok; }")
        guard case .login(let modules) = try RealmsConf.parse(source).get()[0].body else {
            Issue.record("no login block")
            return
        }
        let columns = modules[0].options.prefix(2).map { option in
            #expect(throws: Diagnostic.self) { try option.expandedBytes(by: Self.expansion, in: source) }?.column
        }
        #expect(columns == [25, 41])
    }
}

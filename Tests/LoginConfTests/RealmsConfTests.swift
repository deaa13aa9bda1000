// SPDX-License-Identifier: Apache-2.0

import RealmKit
import SeededRandom
import Testing

@testable import LoginConf

@Suite struct RealmsConfTests {
    static let example = """
        default-realm xtech;   # a comment
        login-config "login.conf";
        login xtechMyRealm {   // as in login.conf
            StartWithLoginModule required /* c */ a=b;
            other.Module optional "x y"="${env:HOME}";
        }
        realm xtech {
            class  StartWithRealm; assign-groups Staff "Board of \\"Trustees\\" \\\\";
            nested { deep a; }
            empty {
            }
        }
        protect /welcome { auth basic#not-a-comment; }
        """

    private func parse(_ text: String) -> Parsed<[Statement]> {
        RealmsConf.parse(SourceText(name: "realms.conf", text))
    }

    @Test func `statements, blocks and login blocks are read`() throws {
        let statements = try parse(Self.example).get()
        #expect(statements.map(\.keyword.text) == ["default-realm", "login-config", "login", "realm", "protect"])
        #expect(statements[0].arguments.map(\.text) == ["xtech"])
        #expect(statements[0].body == .none)
        #expect(statements[1].arguments.map(\.isQuoted) == [true])
        guard case .login(let modules) = statements[2].body, case .block(let realm) = statements[3].body else {
            Issue.record("not the right bodies")
            return
        }
        #expect(modules.map(\.className) == ["StartWithLoginModule", "other.Module"])
        #expect(modules.map(\.flag) == [.required, .optional])
        #expect(modules[1].options.map { "\($0.key)=\($0.value)" } == ["x y=${env:HOME}"])
        #expect(realm.map(\.keyword.text) == ["class", "assign-groups", "nested", "empty"])
        #expect(realm[1].arguments.map(\.text) == ["Staff", "Board of \"Trustees\" \\"])
        #expect(realm[3].body == .block([]))
    }

    @Test func `every word and statement has its place`() throws {
        let text = SourceText(name: "realms.conf", Self.example)
        let statements = try RealmsConf.parse(text).get()
        #expect(text.string(in: statements[0].range) == "default-realm xtech;")
        #expect(text.string(in: statements[1].arguments[0].range) == "\"login.conf\"")
        #expect(text.string(in: statements[2].arguments[0].range) == "xtechMyRealm")
        #expect(text.string(in: statements[2].range).hasPrefix("login xtechMyRealm {"))
        #expect(text.string(in: statements[2].range).hasSuffix("}"))
        #expect(text.string(in: statements[4].range) == "protect /welcome { auth basic#not-a-comment; }")
        #expect(text.location(of: statements[4].keyword.range.start) == SourceLocation(line: 13, column: 1))
        guard case .block(let realm) = statements[3].body else {
            Issue.record("the statement has another body")
            return
        }
        #expect(realm.map(\.keyword.beginsLine) == [true, false, true, true])
    }

    @Test func `an argument at the beginning of a line is marked`() throws {
        let statement = try parse("class A\njaas-context b;").get()[0]
        #expect(statement.arguments.map(\.beginsLine) == [false, true, false])
    }

    @Test func `an empty file has no statements`() throws {
        #expect(try parse("").get().isEmpty)
        #expect(try parse(" \r\n\t# only a comment").get().isEmpty)
    }

    @Test func `a semicolon after a login block is optional`() throws {
        #expect(try parse("login a { M required; };\nb;").get().count == 2)
        #expect(try parse("login a { M required; }b;").get().count == 2)
        #expect(try parse("login \"a b\" { M required; } ;").get().count == 1)
    }

    @Test func `a login block is read like an entry of login.conf`() throws {
        let modules = "com.x.M Required a=\"\\101\\n\" é=b; N sufficient;"
        guard case .login(let inline) = try parse("login a { \(modules) }").get()[0].body else {
            Issue.record("the statement has another body")
            return
        }
        let file = try LoginConf.parse(SourceText(name: "f", "a { \(modules) };"), expansion: .none).get()
        #expect(inline.map(CanonicalModule.init) == file.entries[0].modules.map(CanonicalModule.init))
    }

    @Test func `in a block login is an ordinary keyword`() throws {
        let statement = try parse("server { login form; }").get()[0]
        guard case .block(let inner) = statement.body else {
            Issue.record("the statement has another body")
            return
        }
        #expect(inner[0].keyword.text == "login")
    }

    @Test func `blocks may be nested to a depth of 32`() throws {
        let depth = RealmsConf.maximumDepth
        let fine = String(repeating: "a { ", count: depth) + String(repeating: "} ", count: depth)
        #expect(try parse(fine).get().count == 1)
        let deep = String(repeating: "a { ", count: depth + 1) + String(repeating: "} ", count: depth + 1)
        #expect(parse(deep).diagnostics.map(\.message) == ["blocks are nested more than 32 deep"])
        let hostile = parse(String(repeating: "a{", count: 100_000))
        #expect(hostile.diagnostics.count == 2)
    }

    @Test func `bytes that are not UTF-8 are an error at their place`() {
        let parsed = RealmsConf.parse(SourceText(name: "f", bytes: [0x61, 0x20, 0xFF, 0x3B]))
        #expect(parsed.diagnostics.map { [$0.line, $0.column] } == [[1, 3]])
        #expect(parsed.value == nil)
    }

    @Test func `all errors are reported`() {
        let parsed = parse("a \"\\x\"\n}\nb;;\nlogin c { M rquired; }\nd \"e")
        #expect(
            parsed.diagnostics.map { [$0.line, $0.column] } == [[1, 4], [1, 7], [2, 1], [3, 3], [4, 13], [5, 3]]
        )
    }

    // MARK: Random texts

    @Test func `random statements are read back as they were written`() throws {
        var random = Random(seed: FuzzRounds.seed)
        for _ in 0..<FuzzRounds.count / 5 {
            let statements = (0..<random.below(5)).map { _ in Self.statement(&random, depth: 0) }
            let text = statements.map { Self.print($0, &random) }.joined()
            let parsed = parse(text)
            #expect(
                parsed.value.map { $0.map(Self.plain) } == statements.map(Self.plain),
                "\(text)\n\(parsed.diagnostics)"
            )
        }
    }

    @Test func `all diagnostics of a damaged text have a place in the text`() {
        let corpus = [
            Self.example, "a { b \"c\"; }", "login a { M required x=\"y\"; };", "state \"${env:X}\" ${y};",
            "a { b { c { d; } } }",
        ]
        let pieces = DifferentialFuzzTests.pieces + ["login x {", "realm y {", "# c\n", "\"", "\\\"", "\u{200B}", "${"]
        var mutator = Mutator(corpus: corpus, pieces: pieces, seed: FuzzRounds.seed &+ 2)
        for _ in 0..<FuzzRounds.count {
            let bytes = mutator.next()
            let parsed = RealmsConf.parse(SourceText(name: "f", bytes: bytes))
            expectSound(parsed.diagnostics, bytes)
        }
    }

    private static func statement(_ random: inout Random, depth: Int) -> Statement {
        let keyword = RealmsConfWord("k" + bare(&random))
        let arguments = (0..<random.below(4)).map { _ in
            RealmsConfWord(random.below(2) == 0 ? bare(&random) : text(&random))
        }
        let body: Statement.Body =
            switch random.below(depth < 3 ? 4 : 1) {
            case 1: .block((0..<random.below(4)).map { _ in statement(&random, depth: depth + 1) })
            case 2 where depth == 0: .login([ModuleEntry(className: "M", flag: .optional)])
            default: .none
            }
        guard case .login = body else { return Statement(keyword: keyword, arguments: arguments, body: body) }
        return Statement(keyword: RealmsConfWord("login"), arguments: [RealmsConfWord(text(&random))], body: body)
    }

    private static func bare(_ random: inout Random) -> String {
        (0...random.below(4)).map { _ in random.pick(["a", "Z", "é", "/", "-", "'", "\\", "=", "$", ":", "😀"]) }
            .joined()
    }

    private static func text(_ random: inout Random) -> String {
        let pieces = ["a", " ", "\t", "{", "}", ";", "\"", "\\", "#", "//", "${x}", "é", "\u{A0}", "\u{1}", "e\u{301}"]
        return (0..<random.below(5)).map { _ in random.pick(pieces) }.joined()
    }

    private static func print(_ statement: Statement, _ random: inout Random) -> String {
        let gaps = [" ", "\n", "\t ", " # c\n", "\r\n"]
        var text = statement.keyword.text
        for argument in statement.arguments { text += random.pick(gaps) + print(argument, &random) }
        switch statement.body {
        case .none: return text + random.pick(gaps) + ";" + random.pick(["", "\n"])
        case .login: return text + " { M optional; }" + random.pick([";", " ", "\n"])
        case .block(let inner):
            return text + random.pick(gaps) + "{" + inner.map { print($0, &random) }.joined() + random.pick(gaps) + "} "
        }
    }

    private static func print(_ word: RealmsConfWord, _ random: inout Random) -> String {
        let mustQuote =
            word.text.isEmpty || word.text.unicodeScalars.contains { " \t{};\"\u{A0}\u{1}".unicodeScalars.contains($0) }
        let isMark = word.text.hasPrefix("#") || word.text.hasPrefix("'")
        guard mustQuote || isMark || random.below(3) == 0 else { return word.text }
        var quoted = ""
        for scalar in word.text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(scalar)
        }
        return "\"" + quoted + "\""
    }

    /// Returns the content of a statement without its places.
    private static func plain(_ statement: Statement) -> String {
        let words = ([statement.keyword] + statement.arguments).map { Array($0.text.utf8).description }.joined()
        switch statement.body {
        case .none: return words + ";"
        case .block(let inner): return words + "{" + inner.map(plain).joined() + "}"
        case .login(let modules): return words + "login" + modules.map { $0.className + $0.flag.rawValue }.joined()
        }
    }
}

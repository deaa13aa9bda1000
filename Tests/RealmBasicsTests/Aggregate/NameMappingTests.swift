// SPDX-License-Identifier: Apache-2.0

import RealmKit
import SeededRandom
import Testing

@testable import RealmBasics

struct NameMappingTests {
    private func mapped(_ name: String, _ rules: String...) throws -> String {
        try NameMapping(rules).name(of: Username(name)).text
    }

    @Test func `a name without a matching rule stays as it is`() throws {
        #expect(try mapped("Ann") == "Ann")
        #expect(try mapped("Ann", "*@example.org->*", "bob->rob") == "Ann")
    }

    @Test func `lower-case converts ASCII letters only`() throws {
        #expect(try mapped("ANN.Z", "lower-case") == "ann.z")
        #expect(try mapped("ÄNN İ", "lower-case") == "Änn İ")
    }

    @Test func `a star stands for the same bytes on both sides`() throws {
        #expect(try mapped("ann@example.org", "*@example.org->*") == "ann")
        #expect(try mapped("DOM\\ann", "DOM\\*->*") == "ann")
        #expect(try mapped("ann", "*->*@example.org") == "ann@example.org")
        #expect(try mapped("u-ann-x", "u-*-x->[*]") == "[ann]")
        #expect(try mapped("root", "root->admin") == "admin")
        #expect(try mapped("a", "ab*b->*") == "a", "prefix and suffix do not overlap")
        #expect(try mapped("ab", "ab*b->*") == "ab")
        #expect(try mapped("abb", "ab*b->x*x") == "xx")
    }

    @Test func `only the first matching pattern is applied, lower-case always at its place`() throws {
        #expect(try mapped("ann@a.org@a.org", "*@a.org->*", "*@a.org->*") == "ann@a.org")
        #expect(try mapped("ann", "ann->bob", "bob->root") == "bob")
        #expect(try mapped("Ann@A.ORG", "*@a.org->*", "lower-case") == "ann@a.org")
        #expect(try mapped("Ann@A.ORG", "lower-case", "*@a.org->*") == "ann")
        #expect(try mapped("bob", "*->*X", "lower-case") == "bobx")
    }

    @Test func `bytes are compared, not characters`() throws {
        #expect(try mapped("e\u{301}@x", "\u{e9}@x->ann") == "e\u{301}@x")
        #expect(try mapped("a\u{301}", "a*->x*") == "x\u{301}")
    }

    @Test func `a result that is no valid name is an error`() throws {
        #expect(throws: BadUsername.empty) { try mapped("@example.org", "*@example.org->*") }
        #expect(throws: BadUsername.empty) { try mapped("eve", "*@example.org->*", "*->") }
        #expect(throws: BadUsername.whiteSpaceAtEnds) { try mapped("ann @x", "*@x->*") }
        #expect(throws: BadUsername.tooLong) { try mapped(String(repeating: "a", count: 1024), "*->*b") }
    }

    @Test(
        arguments: [
            ("lowercase", "takes lower-case and rules such as *@example.org->*, not lowercase"),
            ("", "takes lower-case and rules such as *@example.org->*, not "),
            ("->*", "takes rules with a pattern and one ->, not ->*"),
            ("a->b->c", "takes rules with a pattern and one ->, not a->b->c"),
            ("*@*->*", "takes patterns with at most one *, not *@*"),
            ("*->**", "takes patterns with at most one *, not **"),
            ("ann->*", "has a * after -> without a * before it, in ann->*"),
        ]
    )
    func `a malformed rule is rejected`(rule: String, message: String) throws {
        #expect(try #require(throws: BadValue.self) { try NameMapping([rule]) }.description == message)
    }

    @Test func `there are at most 64 rules`() throws {
        _ = try NameMapping(Array(repeating: "lower-case", count: 64))
        #expect(throws: BadValue.self) { try NameMapping(Array(repeating: "lower-case", count: 65)) }
    }

    @Test(
        arguments: [
            ([], []), (["lower-case", "*@example.org->*", "*->"], []),
            (["*@A.org->*", "lower-case", "*@a.org->*"], []),
            (["lower-case", "*@Example.org->*"], ["1: after lower-case no name has capital letters"]),
            (["lower-case", "Ann->bob", "É->e"], ["1: after lower-case no name has capital letters"]),
            (["*->*x", "ann->bob"], ["1: an earlier rule matches the same names"]),
            (["a*->b", "ann*z->c", "b*->d", "a->e"], ["1: an earlier", "3: an earlier"]),
            (["*@x->*", "*@x->*"], ["1: an earlier"]), (["*@x->*", "lower-case", "*@x->*"], []),
            (["*.1->*", "lower-case", "a*.1->*"], ["2: an earlier"]),
            (["-*->*", "lower-case", "-ann->c"], ["2: an earlier"]),
            (["ab*bc->*", "abc->x"], []), (["ann->x", "ann*->y"], []),
            ([" ann->x", "a*b ->y"], ["0: no valid", "1: no valid"]),
            (["a\u{1}*->x"], ["0: no valid"]), ([String(repeating: "a", count: 1024) + "*->b"], []),
            ([String(repeating: "a", count: 1025) + "*->b"], ["0: no valid"]),
        ]
    )
    func `rules that are never applied are found`(rules: [String], expected: [String]) throws {
        let unused = try NameMapping(rules).unusedRules.map { "\($0.number): \($0.reason)" }
        #expect(unused.count == expected.count, "\(unused)")
        for (text, start) in zip(unused, expected) { #expect(text.hasPrefix(start)) }
    }

    /// The model tries every split of the name; the mapping must agree with it for random names and rules.
    @Test(arguments: 0..<200)
    func `the mapping agrees with a simple model`(seed: UInt64) throws {
        var random = Random(seed: seed)
        let letters = ["a", "b", "A", "é", "e\u{301}", "@", "\\", "😀"]
        func word(_ limit: Int) -> String { (0..<random.below(limit)).map { _ in random.pick(letters) }.joined() }
        for _ in 0..<50 {
            var rules: [String] = []
            for _ in 0..<random.below(4) {
                let star = random.below(3) > 0
                let pattern = star ? word(3) + "*" + word(3) : "x" + word(3)
                let replacement = star && random.below(4) > 0 ? word(2) + "*" + word(2) : "y" + word(3)
                rules.append(random.below(4) == 0 ? "lower-case" : "\(pattern)->\(replacement)")
            }
            let name = "x" + word(6)
            let expected = Self.model(name, rules)
            do {
                let result = try NameMapping(rules).name(of: Username(name)).text
                #expect(Array(result.utf8) == expected, "\(name) by \(rules)")
            } catch {
                #expect(throws: BadUsername.self, "\(name) by \(rules)") {
                    try Username(String(decoding: expected, as: UTF8.self))
                }
            }
        }
    }

    private static func model(_ name: String, _ rules: [String]) -> [UInt8] {
        var bytes = Array(name.utf8)
        var isDone = false
        for rule in rules {
            if rule == "lower-case" {
                bytes = bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
                continue
            }
            let parts = rule.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
            let (pattern, replacement) = (Array(parts[0]), Array(parts[1].dropFirst()))
            guard !isDone, let filler = filler(pattern, bytes) else { continue }
            bytes = replacement.flatMap { $0 == UInt8(ascii: "*") ? filler : [$0] }
            isDone = true
        }
        return bytes
    }

    private static func filler(_ pattern: [UInt8], _ name: [UInt8]) -> [UInt8]? {
        guard pattern.contains(UInt8(ascii: "*")) else { return pattern == name ? [] : nil }
        for begin in 0...name.count {
            for end in begin...name.count {
                let filler = Array(name[begin..<end])
                if pattern.flatMap({ $0 == UInt8(ascii: "*") ? filler : [$0] }) == name { return filler }
            }
        }
        return nil
    }
}

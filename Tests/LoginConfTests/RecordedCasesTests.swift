// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import LoginConf
import Testing

struct RecordedCasesTests {
    /// The texts that the JDK accepts and this parser rejects on purpose, with the reasons.
    static let refused: [String: ReferenceModel.Hazard] = [
        "bom": .byteOrderMark,
        "block-comment-unterminated": .openComment,
        "single-slash-unquoted-path-2lines": .loneSlash,
        "single-slash-as-line-comment": .loneSlash,
        "slash-eof": .loneSlash,
        "single-quoted-name": .oddName,
        "number-name": .oddName,
        "brace-as-name": .oddName,
        "dot-name": .oddName,
        "braces-empty": .emptyContext,
        "braces-empty-and-other": .emptyContext,
        "quote-unterminated-eol2": .openString,
        "flag-turkish-i": .nonASCIIFlag,
        "ligature": .nonASCIIFlag,
        "long-s": .nonASCIIFlag,
    ]

    @Test func `the JDK reads accepted texts to the same contexts, and accepts more only for listed hazards`()
        throws
    {
        let cases = try RecordedCases.load()
        #expect(cases.count == 164)
        var refused: Set<String> = []
        for (item, answer) in cases {
            let parsed = LoginConf.parse(SourceText(name: "login.conf", item.text), expansion: item.expansion)
            if let file = parsed.value {
                #expect(answer.ok, "\(item.id): the JDK refuses it")
                #expect(file.entries.map(CanonicalEntry.init).byName == answer.canonical?.byName, "\(item.id)")
            } else if answer.ok {
                refused.insert(item.id)
            }
        }
        #expect(refused == Set(Self.refused.keys))
    }

    /// Texts with two mistakes.
    static let doublyWrong: Set<String> = [
        "single-slash-unquoted-path-2lines", "number-name-twice", "duplicate-name-empty-first",
    ]

    @Test func `every refusal has one error for one mistake`() throws {
        for (item, _) in try RecordedCases.load() {
            let parsed = LoginConf.parse(SourceText(name: "login.conf", item.text), expansion: item.expansion)
            guard parsed.hasErrors else { continue }
            let errors = parsed.diagnostics.filter { $0.severity == .error }
            let expected = Self.doublyWrong.contains(item.id) ? 2 : 1
            #expect(errors.count == expected, "\(item.id):\n\(errors.map(\.rendered).joined(separator: "\n"))")
        }
    }

    @Test func `the reference model gives every recorded answer`() throws {
        for (item, answer) in try RecordedCases.load() {
            let properties = item.properties
            let model = ReferenceModel.read(Array(item.text.utf8)) { properties[$0] }
            #expect((model.entries != nil) == answer.ok, "\(item.id)")
            #expect(model.entries?.byName == answer.canonical?.byName, "\(item.id)")
            if let hazard = Self.refused[item.id] { #expect(model.hazards.contains(hazard), "\(item.id)") }
        }
    }
}

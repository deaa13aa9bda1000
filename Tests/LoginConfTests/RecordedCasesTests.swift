// SPDX-License-Identifier: Apache-2.0

import LoginConf
import Testing

struct RecordedCasesTests {
    /// The texts that the JDK accepts and this parser rejects, with the reason for each.
    static let rejected: [String: ReferenceModel.Hazard] = [
        "bom": .byteOrderMark,
        "block-comment-unterminated": .unterminatedComment,
        "single-slash-unquoted-path-2lines": .loneSlash,
        "single-slash-as-line-comment": .loneSlash,
        "slash-eof": .loneSlash,
        "single-quoted-name": .invalidName,
        "number-name": .invalidName,
        "brace-as-name": .invalidName,
        "dot-name": .invalidName,
        "braces-empty": .emptyContext,
        "braces-empty-and-other": .emptyContext,
        "quote-unterminated-eol2": .unterminatedString,
        "flag-turkish-i": .nonASCIIFlag,
        "ligature": .nonASCIIFlag,
        "long-s": .nonASCIIFlag,
    ]

    @Test func `parser and JDK read the same contexts, and the parser rejects only texts with listed hazards`()
        throws
    {
        let cases = try RecordedCases.load()
        #expect(cases.count == 164)
        var rejected: Set<String> = []
        for (item, answer) in cases {
            let parsed = LoginConf.parse(SourceText(name: "login.conf", item.text), expansion: item.expansion)
            if let file = parsed.value {
                #expect(answer.ok, "\(item.id): the JDK rejects it")
                #expect(file.entries.map(CanonicalEntry.init).byName == answer.canonical?.byName, "\(item.id)")
            } else if answer.ok {
                rejected.insert(item.id)
            }
        }
        #expect(rejected == Set(Self.rejected.keys))
    }

    /// The ids of the texts that contain two mistakes.
    static let textsWithTwoMistakes: Set<String> = [
        "number-name-twice", "duplicate-name-empty-first",
    ]

    @Test func `each mistake is reported as one error`() throws {
        for (item, _) in try RecordedCases.load() {
            let parsed = LoginConf.parse(SourceText(name: "login.conf", item.text), expansion: item.expansion)
            guard parsed.hasErrors else { continue }
            let errors = parsed.diagnostics.filter { $0.severity == .error }
            let expected = Self.textsWithTwoMistakes.contains(item.id) ? 2 : 1
            #expect(errors.count == expected, "\(item.id):\n\(errors.map(\.rendered).joined(separator: "\n"))")
        }
    }

    @Test func `the model gives the recorded answers of the JDK`() throws {
        for (item, answer) in try RecordedCases.load() {
            let properties = item.properties
            let model = ReferenceModel.read(Array(item.text.utf8)) { properties[$0] }
            #expect((model.entries != nil) == answer.ok, "\(item.id)")
            #expect(model.entries?.byName == answer.canonical?.byName, "\(item.id)")
            if let hazard = Self.rejected[item.id] { #expect(model.hazards.contains(hazard), "\(item.id)") }
        }
    }
}

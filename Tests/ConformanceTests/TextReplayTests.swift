// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import conformance

struct TextReplayTests {
    private func json(_ test: TextReplay.Case) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(TextReplay.answer(test)), as: UTF8.self)
    }

    @Test func `the answer to a valid text contains its entries, sorted by name`() throws {
        let text = "b { M required o=\"${k}\"; };\nA { N optional; P sufficient; };"
        #expect(
            try json(TextReplay.Case(id: "x", text: text, props: ["k": "v"]))
                == #"{"entries":[{"modules":[{"class":"N","flag":"optional","options":{}},{"class":"P","flag":"sufficient","options":{}}],"name":"A"},{"modules":[{"class":"M","flag":"required","options":{"o":"v"}}],"name":"b"}],"id":"x","ok":true}"#
        )
    }

    @Test func `the answer to an invalid text contains line, column, message and hint`() throws {
        #expect(
            try json(TextReplay.Case(id: "x", text: "A {\n  M required\n};", props: nil))
                == #"{"column":13,"hint":"every module ends with `;`","id":"x","line":2,"message":"missing `;` after the module","ok":false}"#
        )
    }

    private struct JavaAnswer: Decodable {
        struct Entry: Decodable {
            let name: String?
            let modules: [TextReplayModule]?
        }
        struct TextReplayModule: Decodable {
            let `class`: String
            let flag: String
            let options: [String: String]
        }
        let id: String
        let ok: Bool
        let entries: [Entry]?
    }

    /// The texts that the JDK accepts and this project rejects; `RecordedCasesTests` lists their hazards.
    private static let hazards: Set<String> = [
        "bom", "block-comment-unterminated", "single-slash-unquoted-path-2lines", "single-slash-as-line-comment",
        "slash-eof",
        "single-quoted-name", "number-name", "brace-as-name", "dot-name", "braces-empty", "braces-empty-and-other",
        "quote-unterminated-eol2", "flag-turkish-i", "ligature", "long-s",
    ]

    @Test func `the answers are the same as those of the JDK; only texts with listed hazards are rejected`() throws {
        let cases = try RecordedCases.lines("jaas/conf.cases.jsonl", as: TextReplay.Case.self)
        let answers = try RecordedCases.lines("jaas/conf.answers.jsonl", as: JavaAnswer.self)
        #expect(cases.count == 164 && cases.map(\.id) == answers.map(\.id))
        var rejected: Set<String> = []
        for (test, java) in zip(cases, answers) {
            let ours = TextReplay.answer(test)
            #expect(ours.id == test.id)
            guard ours.ok, let entries = ours.entries else {
                #expect(ours.line ?? 0 >= 1 && ours.column ?? 0 >= 1 && ours.message?.isEmpty == false, "\(test.id)")
                if java.ok { rejected.insert(test.id) }
                continue
            }
            #expect(java.ok, "\(test.id): the JDK rejects the text")
            let theirs = (java.entries ?? []).map { entry in
                Self.line(entry.name ?? "", (entry.modules ?? []).map { ($0.class, $0.flag, $0.options) })
            }
            #expect(
                entries.map { Self.line($0.name, $0.modules.map { ($0.class, $0.flag, $0.options) }) } == theirs,
                "\(test.id)"
            )
        }
        #expect(rejected == Self.hazards)
    }

    private static func line(_ name: String, _ modules: [(String, String, [String: String])]) -> String {
        let shown = modules.map { "\($0.0) \($0.1) \($0.2.sorted { $0.key < $1.key })" }
        return "\(name) { \(shown.joined(separator: "; ")) }"
    }
}

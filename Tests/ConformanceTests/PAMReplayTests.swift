// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import conformance

/// Replays the recorded stacks and files of Linux-PAM with the parser of pam.d files and the engine.
///
/// The answers of the functions that freeze a chain are compared: `pam_authenticate` and `pam_acct_mgmt`. docs/pam.md has
/// the reasons for what is refused, and for `pam_setcred`, which has no counterpart.
struct PAMReplayTests {
    struct Expected: Sendable, CustomTestStringConvertible {
        let file: String
        let cases: Int
        /// The number of stacks with errors, for which libpam has an entry that always fails.
        let refused: Int
        /// The column of the answer.
        let answer: Int
        /// The column with the numbers of the called modules; nil if they were not recorded.
        let calls: Int?

        var testDescription: String { file }
    }

    static let sets = [
        Expected(file: "words2.tsv", cases: 272, refused: 0, answer: 2, calls: 3),
        Expected(file: "random600.tsv", cases: 600, refused: 47, answer: 2, calls: 3),
        Expected(file: "upstream-stacks.tsv", cases: 24, refused: 0, answer: 3, calls: nil),
    ]

    @Test(arguments: sets)
    func `every recorded stack has the same result and calls the same modules as in Linux-PAM`(
        expected: Expected
    ) throws {
        let lines = try RecordedCases.lines("pam/\(expected.file)")
        #expect(lines.count == expected.cases)
        var refused = 0
        var granted = 0
        for line in lines {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            try #require(fields.count > expected.answer)
            let functions = expected.calls == nil ? fields[2].split(separator: ",") : ["authenticate"]
            for (function, recorded) in zip(functions, fields[expected.answer].split(separator: ",")) {
                guard let type = ["authenticate": "auth", "acct_mgmt": "account"][function] else { continue }
                let test = PAMReplay.tableCase(line, type: type)
                guard case .ran(let result, let calls) = PAMReplay.answer(test, type: type) else {
                    refused += 1
                    continue
                }
                if recorded.hasPrefix("!") {
                    #expect(result != recorded.dropFirst(), "\(line)")
                } else {
                    #expect(result == recorded, "\(line)")
                }
                if let column = expected.calls {
                    let numbers = calls.map(\.number).joined(separator: ",")
                    #expect((numbers.isEmpty ? "-" : numbers) == fields[column], "\(line)")
                }
                granted += result == "PAM_SUCCESS" ? 1 : 0
            }
        }
        #expect(refused == expected.refused)
        // If all logins had the same result, the test would prove nothing.
        #expect(granted > 0 && granted < lines.count - refused)
    }

    private struct FileAnswer: Decodable {
        struct Function: Decodable {
            struct Call: Decodable {
                let id: Int
                let args: [String]
            }

            let result: String
            let calls: [Call]
        }

        let id: String
        let authenticate: Function?
    }

    @Test func `recorded files mean what they mean to Linux-PAM, or are refused with a place`() throws {
        let answers = try RecordedCases.lines("pam/parser-answers.jsonl", as: FileAnswer.self)
        let text = try Data(contentsOf: RecordedCases.cases.appending(path: "pam/parser-cases.txt"))
        let cases = PAMReplay.cases(Array(text))
        #expect(cases.map(\.id) == answers.map(\.id))
        var refused: [String: String] = [:]
        for (test, recorded) in zip(cases, answers) {
            switch PAMReplay.answer(test) {
            case .refused(let errors): refused[test.id] = errors.first
            case .ran(let result, let calls):
                let answer = try #require(recorded.authenticate, "\(test.id)")
                if Self.debianFiles.contains(test.id) {
                    #expect(result == "PAM_SUCCESS" && calls.map(\.number) == ["1", "3"])
                    continue
                }
                #expect(result == answer.result, "\(test.id)")
                let same = answer.calls.map { PAMReplay.Call(number: "\($0.id)", arguments: $0.args) }
                #expect(calls == same, "\(test.id)")
            }
        }
        #expect(refused == Self.refusedFiles)
    }

    /// The first error of each file that is refused: libpam refuses it too, misreads it, or makes a line of it that always fails.
    static let refusedFiles = [
        "args-bracket-unclosed": "svc:1:30 this bracket is not closed",
        "at-include-missing": "svc:1:10 `%D%/nope` cannot be read: no such file",
        "bom": "svc:1:1 a byte order mark (U+FEFF)",
        "bracket-form-without-brackets": "svc:1:6 a control without brackets",
        "comma-separated": "svc:1:17 a comma in a control",
        "continuation-at-eof": "svc:2:19 the line that `\\` continues is missing",
        "continuation-over-blank-line": "svc:2:1 an empty line or a comment continues a line",
        "continuation-over-comment-line": "svc:2:1 an empty line or a comment continues a line",
        "control-only": "svc:1:16 the module is missing",
        "crlf": "svc:1:29 a carriage return, which is a part of the word for libpam",
        "crlf2": "svc:1:18 a carriage return, which is a part of the word for libpam",
        "empty-brackets": "svc:1:6 a control without pairs",
        "empty-modname": "svc:1:15 this names no module",
        "empty-type-pamconf": "svc:1:2 this bracket is not closed",
        "escaped-end-at-column-1023": "svc:1:1 there is no type of this name",
        "formfeed": "svc:1:5 an invisible character (U+000C), which is a part of the word for libpam",
        "hash-glued-to-word": "svc:1:24 `#` begins a comment within a word",
        "hash-inside-brackets": "svc:1:19 this bracket is not closed",
        "i475-dot": "svc:1:1 there is no type of this name",
        "i475-slash": "svc:1:1 there is no type of this name",
        "include-args-after-name": "svc:1:22 a word after the name of an included file",
        "include-bad-line-inside": "inc:1:1 there is no type of this name",
        "include-missing-file": "svc:1:14 `%D%/nope` cannot be read: no such file",
        "include-no-name": "svc:2:16 the name of the file is missing",
        "include-self-recursive": "svc:1:14 the files include each other without end",
        "include-twice-self": "svc:1:14 the files include each other without end",
        "jump-negative": "svc:1:15 there is no action of this name",
        "jump-zero": "svc:1:15 this is not a number of entries to skip",
        "openpam-binding": "svc:1:6 there is no control of this name",
        "other-broken": "other:1:19 the line that `\\` continues is missing",
        "service-column-ignored-in-pamd": "svc:1:1 there is no type of this name",
        "substack-missing-file": "svc:1:15 `%D%/nope` cannot be read: no such file",
        "substack-self-recursive": "svc:1:15 the files include each other without end",
        "substack16": "svc:1:15 the files include each other without end",
        "tokens-case-sensitive": "svc:1:7 there is no value `SUCCESS`",
        "two-defaults-first-wins": "svc:1:18 a second `default` in this control",
        "type-only": "svc:1:5 the control is missing",
        "unknown-action": "svc:1:15 there is no action of this name",
        "unknown-control-word": "svc:1:6 there is no control `requird`",
        "unknown-return-name": "svc:1:7 there is no value `sucess`",
        "unknown-type": "svc:1:1 there is no type `auht`",
    ]

    /// Files with `@include`, which only Debian's libpam knows; the recorded one is of Linux-PAM.
    static let debianFiles: Set = ["at-include-all-types"]
}

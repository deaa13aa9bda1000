// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

/// Replays the recorded stacks of Linux-PAM with the engine.
///
/// Only the answers of `pam_authenticate` are compared; see the README of the cases.
struct PAMReplayTests {
    struct Expected: Sendable, CustomTestStringConvertible {
        let file: String
        let cases: Int
        /// The number of cases that cannot be replayed: their control is invalid, or they do not call pam_authenticate.
        let skipped: Int
        /// The column of the answer.
        let answer: Int
        /// The column with the numbers of the called modules; nil if they were not recorded.
        let calls: Int?

        var testDescription: String { file }
    }

    static let sets = [
        Expected(file: "words2.tsv", cases: 272, skipped: 0, answer: 2, calls: 3),
        Expected(file: "random600.tsv", cases: 600, skipped: 11, answer: 2, calls: 3),
        Expected(file: "upstream-stacks.tsv", cases: 24, skipped: 1, answer: 3, calls: nil),
    ]

    @Test(arguments: sets)
    func `every recorded stack has the same result and calls the same modules as in Linux-PAM`(
        expected: Expected
    ) throws {
        let lines = try RecordedCases.lines("pam/\(expected.file)")
        #expect(lines.count == expected.cases)
        var skipped = 0
        var granted = 0
        for line in lines {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            try #require(fields.count > expected.answer)
            if expected.calls == nil, !fields[2].hasPrefix("authenticate") {
                skipped += 1
                continue
            }
            let stack: RecordedPAMStack
            do {
                stack = try RecordedPAMStack(fields[1])
            } catch {
                skipped += 1
                continue
            }
            let login = LoginStack(name: "pam", stack.entries, clock: ManualClock())
            let request = LoginRequest(realm: "replay", username: try Username("u"))
            let report = try #require(login.loginNow(request))
            // If several functions were called, the first answer is the answer of pam_authenticate.
            let answer = fields[expected.answer].prefix { $0 != "," }
            let grants = report.identity != nil
            #expect(grants == (answer == "PAM_SUCCESS"), "\(line)")
            if let column = expected.calls {
                let calls = stack.calls.all.map(String.init).joined(separator: ",")
                #expect((calls.isEmpty ? "-" : calls) == fields[column], "\(line)")
            }
            granted += grants ? 1 : 0
        }
        #expect(skipped == expected.skipped)
        // If all logins had the same result, the test would prove nothing.
        #expect(granted > 0 && granted < lines.count - skipped)
    }
}

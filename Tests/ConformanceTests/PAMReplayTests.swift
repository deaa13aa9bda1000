// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Testing

/// Replays the recorded stacks of Linux-PAM in the engine: `pam_authenticate` only, as the README beside the cases
/// explains.
struct PAMReplayTests {
    struct Expected: Sendable, CustomTestStringConvertible {
        let file: String
        let cases: Int
        /// The number of cases that cannot be replayed yet: a control that a parser of pam.d would reject, or only
        /// another function.
        let skipped: Int
        /// The column of the answer, and that of the numbers of the called modules if they were recorded.
        let answer: Int
        let calls: Int?

        var testDescription: String { file }
    }

    static let sets = [
        Expected(file: "words2.tsv", cases: 272, skipped: 0, answer: 2, calls: 3),
        Expected(file: "random600.tsv", cases: 600, skipped: 11, answer: 2, calls: 3),
        Expected(file: "upstream-stacks.tsv", cases: 24, skipped: 1, answer: 3, calls: nil),
    ]

    @Test(arguments: sets)
    func `every recorded stack grants, refuses and calls as Linux-PAM does`(expected: Expected) throws {
        let lines = try Recorded.lines("pam/\(expected.file)")
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
            let stack: PAMStack
            do {
                stack = try PAMStack(fields[1])
            } catch {
                skipped += 1
                continue
            }
            let login = LoginStack(name: "pam", stack.entries, clock: ManualClock())
            let request = LoginRequest(realm: "replay", username: try Username("u"))
            let report = try #require(login.loginNow(request))
            // If several functions were called, the answer of authenticate is the first.
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
        // A run that always refuses, or never does, would prove nothing.
        #expect(granted > 0 && granted < lines.count - skipped)
    }
}

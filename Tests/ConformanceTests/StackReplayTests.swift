// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import conformance

/// The reasons why an answer differs from the recorded answer of the JDK; see docs/jaas.md.
enum DifferenceReason: String, CaseIterable {
    /// The engine does not call commit, abort or logout of a module whose login was not called.
    case unreached
    /// A module cannot be created: in the replay it is a failed module, and its control flag applies.
    case initFault
    /// A module throws an `Error`: the JDK continues in the middle of the stack; the engine treats it as a failure.
    case error

    init?(_ test: StackReplay.Case) {
        let words = test.modules.flatMap {
            [$0.login, $0.commit, $0.abort, $0.logout].compactMap { $0?.words }.joined()
        }
        if test.modules.contains(where: { $0.`init` ?? "ok" != "ok" }) {
            self = .initFault
        } else if words.contains("throw:Error") {
            self = .error
        } else {
            self = .unreached
        }
    }
}

struct StackReplayTests {
    struct Expected: Sendable, CustomTestStringConvertible {
        let name: String
        let cases: Int
        /// The number of answers that differ from the JDK's, by reason.
        var differences: [DifferenceReason: Int] = [:]

        var testDescription: String { name }
    }

    static let sets = [
        Expected(name: "edge", cases: 34, differences: [.unreached: 1, .initFault: 5, .error: 2]),
        Expected(name: "login1", cases: 12), Expected(name: "login2", cases: 144),
        Expected(name: "login3", cases: 1728),
        Expected(name: "commit1", cases: 36), Expected(name: "commit2", cases: 1296, differences: [.unreached: 42]),
        Expected(name: "abort1", cases: 24), Expected(name: "abort2", cases: 576),
        Expected(name: "logout1", cases: 12), Expected(name: "logout2", cases: 144, differences: [.unreached: 16]),
    ]

    @Test(arguments: sets)
    func `the answers of the engine differ from the answers of the JDK only for the listed reasons`(
        expected: Expected
    ) async throws {
        let cases = try RecordedCases.lines("jaas/\(expected.name).cases.jsonl", as: StackReplay.Case.self)
        let answers = try RecordedCases.lines("jaas/\(expected.name).answers.jsonl", as: RecordedCases.Answer.self)
        #expect(cases.count == expected.cases && cases.map(\.id) == answers.map(\.id))
        var differences: [DifferenceReason: Int] = [:]
        for (test, answer) in zip(cases, answers) {
            let ours = try await StackReplay.answer(test).calls.map(CallSummary.init)
            let reason = DifferenceReason(test)
            // The model with both deviations gives the answer of the engine.
            var deviating = JDKLoginContextModel(test, [.onlyReached, .faultsAreFailures])
            #expect(ours == deviating.run(), "\(test.id)")
            // The model without deviations gives the answer of the JDK.
            var plain = JDKLoginContextModel(test, [])
            if reason != .error { #expect(Self.reachedOnly(plain.run(), answer) == answer.summaries, "\(test.id)") }
            if ours != answer.summaries, let reason { differences[reason, default: 0] += 1 }
        }
        #expect(differences == expected.differences)
    }

    /// Returns the summaries without calls of modules whose login was not called.
    private static func reachedOnly(_ summaries: [CallSummary], _ answer: RecordedCases.Answer) -> [CallSummary] {
        var reached: Set<Substring> = []
        return summaries.map { summary in
            var summary = summary
            if summary.call == "login" {
                reached = Set(summary.calls.filter { $0.hasSuffix(".login") }.map { $0.prefix { $0 != "." } })
            }
            summary.calls.removeAll { call in !reached.contains(call.prefix { $0 != "." }) }
            return summary
        }
    }

    @Test func `a case with an unknown control flag is rejected`() async throws {
        let module = StackReplay.Module(flag: "needed", login: nil, commit: nil, abort: nil, logout: nil, init: nil)
        let test = StackReplay.Case(id: "x", subject: nil, modules: [module], calls: nil)
        await #expect(throws: StackReplay.MalformedCase.self) { try await StackReplay.answer(test) }
    }
}

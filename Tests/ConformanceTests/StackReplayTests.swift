// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Testing

@testable import conformance

/// The reasons for which an answer differs from the recorded one; docs/jaas.md lists them.
enum Reason: String, CaseIterable {
    /// A module that was not reached gets no commit, abort or logout, with all consequences.
    case unreached
    /// A module that cannot be created is an error at load here; in the replay it fails under its flag whenever it is
    /// reached.
    case initFault
    /// After an `Error` the JDK resumes in the middle of the stack; here it is a failure like any other.
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
        var differences: [Reason: Int] = [:]

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
    func `every recorded stack is answered as by the JDK, except for the listed reasons`(
        expected: Expected
    ) async throws {
        let cases = try Recorded.lines("jaas/\(expected.name).cases.jsonl", as: StackReplay.Case.self)
        let answers = try Recorded.lines("jaas/\(expected.name).answers.jsonl", as: Recorded.Answer.self)
        #expect(cases.count == expected.cases && cases.map(\.id) == answers.map(\.id))
        var differences: [Reason: Int] = [:]
        for (test, answer) in zip(cases, answers) {
            let ours = try await StackReplay.answer(test).calls.map(CallSummary.init)
            let reason = Reason(test)
            // In every case this project's answer follows from the JDK's algorithm and the two deviations.
            var deviating = ContextModel(test, [.onlyReached, .faultsAreFailures])
            #expect(ours == deviating.run(), "\(test.id)")
            // The JDK's answer follows from its algorithm alone.
            var plain = ContextModel(test, [])
            if reason != .error { #expect(Self.reachedOnly(plain.run(), answer) == answer.summaries, "\(test.id)") }
            if ours != answer.summaries, let reason { differences[reason, default: 0] += 1 }
        }
        #expect(differences == expected.differences)
    }

    /// The calls of modules that were reached; the others are not compared.
    private static func reachedOnly(_ summaries: [CallSummary], _ answer: Recorded.Answer) -> [CallSummary] {
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

    @Test func `a case that cannot be read is refused`() async throws {
        let module = StackReplay.Module(flag: "needed", login: nil, commit: nil, abort: nil, logout: nil, init: nil)
        let test = StackReplay.Case(id: "x", subject: nil, modules: [module], calls: nil)
        await #expect(throws: StackReplay.Malformed.self) { try await StackReplay.answer(test) }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

/// A model of the algorithm of the JDK's LoginContext, written from its documentation and independent of the engine.
struct JAASModel {
    enum Answer: CaseIterable { case yes, ignore, no }

    struct Failed: Error { let module: Int? }

    let flags: [ControlFlag]
    let answers: [Answer]
    var called: [Int] = []

    /// Runs the login phase, and throws if the login is refused.
    mutating func login() throws(Failed) {
        var requiredError: Failed?
        var optionalError: Failed?
        var success = false
        for index in flags.indices {
            called.append(index)
            switch answers[index] {
            case .yes:
                if flags[index] == .sufficient, requiredError == nil { return }
                success = true
            case .ignore: break
            case .no:
                let error = Failed(module: index)
                if flags[index] == .requisite { throw requiredError ?? error }
                if flags[index] == .required { requiredError = requiredError ?? error }
                if flags[index] == .sufficient || flags[index] == .optional { optionalError = optionalError ?? error }
            }
        }
        if let requiredError { throw requiredError }
        if !success, let optionalError { throw optionalError }
        if !success { throw Failed(module: nil) }
    }
}

struct JAASStackTests {
    private static let failures: [LoginFailure] = [.wrongCredentials, .unknownUser, .locked, .accountExpired]

    /// Returns all lists of a given length.
    private static func lists<Element>(of elements: [Element], _ count: Int) -> [[Element]] {
        guard count > 0 else { return [[]] }
        return lists(of: elements, count - 1).flatMap { list in elements.map { list + [$0] } }
    }

    @Test(arguments: [1: 12, 2: 144, 3: 1728].sorted { $0.key < $1.key })
    func `every stack of up to three modules has the same result and calls as in the JDK`(
        count: Int,
        stacks: Int
    ) async throws {
        var seen = 0
        for flags in Self.lists(of: ControlFlag.allCases, count) {
            for answers in Self.lists(of: JAASModel.Answer.allCases, count) {
                try await compare(flags, answers)
                seen += 1
            }
        }
        #expect(seen == stacks)
    }

    private func compare(_ flags: [ControlFlag], _ answers: [JAASModel.Answer]) async throws {
        let calls = CallLog()
        let entries = flags.indices.map { index in
            let outcome: Outcome =
                switch answers[index] {
                case .yes: .success
                case .ignore: .ignored
                case .no: .failure(Self.failures[index])
                }
            return LoginStack.Entry(FixedVerdictModule(outcome, index: index, calls: calls), flags[index])
        }
        let stack = LoginStack(name: "lane", entries, clock: ManualClock())
        let report = try #require(stack.loginNow(try request()))
        var model = JAASModel(flags: flags, answers: answers)
        var expected: Refusal?
        do throws(JAASModel.Failed) {
            try model.login()
        } catch {
            expected = error.module.map { .module(index: $0, phase: .login, failure: Self.failures[$0]) } ?? .allIgnored
        }
        #expect(report.refusal == expected, "\(flags) \(answers)")
        #expect((report.identity == nil) == (expected != nil))
        #expect(calls.all == model.called, "\(flags) \(answers)")
        // The groups are the groups of the modules that succeeded.
        let granted = model.called.filter { answers[$0] == .yes }.map { "g\($0)" }
        #expect(report.groups == (expected == nil ? granted : nil), "\(flags) \(answers)")
        // The modules that were reached are called again, in order, to commit or to abort.
        let second = report.steps.filter { $0.phase != .login }
        #expect(second.map(\.index) == model.called)
        #expect(Set(second.map(\.phase)) == (expected == nil ? [.commit] : [.abort]))
        // The asynchronous evaluation has the same result.
        let awaited = await stack.login(try request(), asking: PreparedConversation.silent)
        #expect(awaited.calls == report.calls && awaited.refusal == report.refusal && awaited.groups == report.groups)
    }
}

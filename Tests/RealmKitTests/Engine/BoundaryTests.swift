// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import SeededRandom
import Testing

/// Tests stacks of two parts, such as the `auth` and `account` lines of PAM.
@Suite struct BoundaryTests {
    private typealias Entry = LoginStack.Entry

    private static let outcomes: [Outcome] = [
        .success, .ignored, .failure(.wrongCredentials), .failure(.credentialExpired), .failure(.unavailable),
    ]
    private static let actions: [Action] = [.ok, .done, .bad, .die, .ignore, .reset, .jump(1), .jump(2)]

    private func login(_ entries: [Entry]) throws -> LoginReport {
        let stack = LoginStack(name: "parts", entries, clock: ManualClock())
        return try #require(stack.loginNow(try request()))
    }

    private func calls(_ report: LoginReport) -> [String] {
        report.steps.filter { $0.phase == .login }.map(\.module)
    }

    /// Returns entries with random tables, at most one sub-stack deep.
    private func entries(_ name: String, _ random: inout Random) -> [Entry] {
        var level = 0
        return (0..<random.below(4)).flatMap { index -> [Entry] in
            var table = ActionTable(ControlFlag.required)
            for outcome in Self.outcomes { table[outcome] = random.pick(Self.actions) }
            let module = FixedVerdictModule(random.pick(Self.outcomes + [.success, .success]))
            let opens = level == 0 && random.below(4) == 0
            if opens { level = 1 } else if random.below(3) == 0 { level = 0 }
            return (opens ? [.substack("sub")] : [])
                + [Entry(module, table, control: "table", name: "\(name)\(index)", level: level)]
        }
    }

    @Test func `a stack of two parts grants if both parts would grant alone, and calls the second after the first`()
        throws
    {
        var random = Random(seed: 72)
        var granted = 0
        for _ in 0..<20_000 {
            let (auth, account) = (entries("auth", &random), entries("account", &random))
            let (first, second) = (try login(auth), try login(account))
            let both = try login(auth + [.boundary("account")] + account)
            let grants = first.identity != nil && second.identity != nil
            #expect((both.identity != nil) == grants)
            if first.identity != nil {
                #expect(calls(both) == calls(first) + calls(second))
                #expect(both.refusal?.failure == second.refusal?.failure)
            } else if !first.steps.contains(where: { $0.phase == .commit }) {
                #expect(calls(both) == calls(first))
                #expect(both.refusal?.failure == first.refusal?.failure)
            }
            granted += grants ? 1 : 0
        }
        #expect(granted > 100 && granted < 10_000)
    }

    @Test func `done, die and jumps of the first part do not lead across the boundary`() throws {
        let permit = FixedVerdictModule(.success)
        let deny = FixedVerdictModule(.failure(.permissionDenied))
        let boundary = Entry.boundary("account")
        #expect(try login([.init(permit, .sufficient), boundary, .init(deny, .required)]).identity == nil)
        #expect(try login([.init(permit, .sufficient), boundary]).identity == nil)
        #expect(try login([boundary, .init(permit, .required)]).identity == nil)
        let far = ActionTable(success: .jump(1), failure: .bad)
        let jump = Entry(permit, far, control: "[success=1]", name: "jump")
        let report = try login([.init(permit, .required), jump, boundary, .init(permit, .required)])
        #expect(report.identity == nil && calls(report).count == 2)
        #expect(try login([.init(permit, .required), boundary, .init(permit, .required)]).identity != nil)
    }

    @Test func `a commit that fails in the second part refuses the login, and all modules are aborted`() async throws {
        let permit = ScriptedModule(.accept())
        let failing = ScriptedModule(.accept(), commit: .fail(.internalError("disk full")))
        let report = try await stack(.required(permit), .boundary("account"), .required(failing)).login()
        #expect(report.identity == nil)
        #expect(report.steps.map(\.phase) == [.login, .login, .commit, .commit, .abort, .abort])
        let first = try await stack(.required(failing), .boundary("account"), .required(permit)).login()
        #expect(first.identity == nil)
    }
}

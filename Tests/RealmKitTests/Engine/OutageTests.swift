// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import SeededRandom
import Testing

@testable import RealmKit

struct OutageTests {
    /// The possible outcomes of a module that is up, and of a module that is down.
    private static let answers: [Outcome] = [
        .success, .ignored, .failure(.wrongCredentials), .failure(.unknownUser), .failure(.permissionDenied),
    ]
    private static let faults = [LoginFailure.unavailable, .overloaded, .internalError].map(Outcome.failure)

    /// An entry of a stack: its table, and the outcome of its module if the module is down.
    private struct TableEntry {
        let table: ActionTable
        var level = 0
        let fault: Outcome?
        /// True if a boundary is before the entry.
        var beginsPart = false

        /// The outcomes of the module, one for each that the table tells apart.
        var outcomes: [Outcome] {
            if let fault { return [fault] }
            let all = OutageTests.answers + LoginFailure.allCases.map(Outcome.failure)
            return all.enumerated().filter { index, outcome in
                !all[..<index].contains { table[$0] == table[outcome] && ($0 == .success) == (outcome == .success) }
            }.map(\.element)
        }
    }

    /// A login, and true if only modules that are down had an outage.
    private typealias Trial = (report: LoginReport, isComparable: Bool)

    /// Logs in with all possible outcomes of the modules.
    private func trials(_ tableEntries: [TableEntry], mayGrant: Bool) async throws -> [Trial] {
        let request = try request()
        var combinations: [[Outcome]] = [[]]
        for entry in tableEntries {
            combinations = combinations.flatMap { combination in entry.outcomes.map { combination + [$0] } }
        }
        var trials: [Trial] = []
        for combination in combinations {
            let entries = zip(tableEntries, combination).enumerated().flatMap { index, item in
                let module = FixedVerdictModule(item.1, index: index)
                return (item.0.beginsPart ? [LoginStack.Entry.boundary("part")] : [])
                    + [LoginStack.Entry(module, item.0.table, control: "table", name: "module", level: item.0.level)]
            }
            let stack = LoginStack(name: "lane", entries, clock: ManualClock())
            let report = await stack.login(request, asking: PreparedConversation.silent, mayGrant: mayGrant)
            trials.append((report, zip(tableEntries, combination).allSatisfy { $0.fault != nil || !$1.isOutage }))
        }
        return trials
    }

    /// Returns the outage that all refusals must report: the failures of modules that are down contribute to a refusal if
    /// they counted, or if no failure counted.
    private func outage(_ trials: [Trial], down: Set<Int>, boundary: Int?) -> Outage? {
        let refusals = trials.map(\.report).filter(\.isRefusedInLogin)
        let failures = refusals.map { report in
            var steps = report.steps.filter { $0.phase == .login }
            // If the first part has granted, only the second one refuses.
            if let boundary, steps.contains(where: { $0.index > boundary }) { steps.removeAll { $0.index < boundary } }
            let hasCounted = steps.last?.state == .refusing
            let met = steps.filter { down.contains($0.index) && (!hasCounted || [.bad, .die].contains($0.action)) }
            return Set(met.map(\.outcome))
        }
        guard !failures.contains([]) else { return nil }
        return Outage(
            mayBeShown: !failures.contains([.failure(.internalError)]),
            excludesSuccess: refusals.count == trials.count,
            isOverload: failures.allSatisfy { $0.contains(.failure(.overloaded)) }
        )
    }

    /// Compares the outages that refusals report with that of the logins that were possible.
    private func check(_ tableEntries: [TableEntry]) async throws {
        let trials = try await trials(tableEntries, mayGrant: true)
        let boundary = tableEntries.firstIndex { $0.beginsPart }
        let down = tableEntries.indices.filter { tableEntries[$0].fault != nil }
        let places = down.map { index in index + (boundary.map { index >= $0 } ?? false ? 1 : 0) }
        let expected = outage(trials, down: Set(places), boundary: boundary)
        let refusals = trials.filter { $0.isComparable && $0.report.isRefusedInLogin }
        for (report, _) in refusals { #expect(report.outage == expected, "\(report.calls)") }
        // A login to a locked account is refused like other refused logins.
        guard !refusals.isEmpty else { return }
        for (report, isComparable) in try await self.trials(tableEntries, mayGrant: false) where isComparable {
            #expect(report.outage == expected, "locked: \(report.calls)")
        }
    }

    @Test(arguments: 0..<300)
    func `while modules are unavailable, all refusals report the outage of the logins that are possible`(
        seed: UInt64
    ) async throws {
        var random = Random(seed: seed)
        let tableEntries = (0..<(1 + random.below(4))).map { _ in
            TableEntry(
                table: ActionTable(random.pick(ControlFlag.allCases)),
                fault: random.below(3) == 0 ? random.pick(Self.faults) : nil
            )
        }
        try await check(tableEntries)
    }

    @Test(arguments: 0..<300)
    func `while one module is unavailable, all refusals of a stack with jumps and sub-stacks report the same outage`(
        seed: UInt64
    ) async throws {
        var random = Random(seed: seed)
        let actions: [Action] = [.ok, .done, .bad, .die, .ignore, .reset, .jump(1), .jump(2)]
        let down = random.below(4)
        var level = 0
        let tableEntries = (0..<4).map { index in
            var table = ActionTable(success: random.pick(actions), ignored: .ignore, failure: random.pick(actions))
            for outcome in Self.answers + Self.faults where random.below(4) == 0 {
                table[outcome] = random.pick(actions)
            }
            level = index == 0 ? 0 : max(0, min(2, level + random.below(3) - 1))
            return TableEntry(table: table, level: level, fault: index == down ? random.pick(Self.faults) : nil)
        }
        try await check(tableEntries)
    }

    @Test(arguments: 0..<300)
    func `while one module is unavailable, all refusals of a stack of two parts report the same outage`(
        seed: UInt64
    ) async throws {
        var random = Random(seed: seed)
        let (down, boundary) = (random.below(4), 1 + random.below(3))
        let tableEntries = (0..<4).map { index in
            TableEntry(
                table: ActionTable(random.pick(ControlFlag.allCases)),
                fault: index == down ? random.pick(Self.faults) : nil,
                beginsPart: index == boundary
            )
        }
        try await check(tableEntries)
    }

    @Test func `an overloaded module is shown as unavailable, and is no guess, but no outage either`() async throws {
        let busy = LoginStack.Entry.required(ScriptedModule(.fail(.overloaded("the queue is full"))))
        for entries in [[busy], [busy, Self.down], [Self.down, busy]] {
            let report = try await LoginStack(name: "lane", entries, clock: ManualClock()).login()
            #expect(report.isUnavailable && report.outage?.excludesSuccess == true)
            #expect(!report.mayBeOutage && report.isOverloaded)
        }
        let down = try await LoginStack(name: "lane", [Self.down], clock: ManualClock()).login()
        #expect(down.mayBeOutage && !down.isOverloaded)
    }

    @Test func `an overload that is met only after a right password is not shown as one`() async throws {
        let busy = LoginStack.Entry.required(ScriptedModule(.fail(.overloaded("the queue is full"))))
        for outcome in Self.answers {
            let report = try await stack(Self.down, .requisite(FixedVerdictModule(outcome)), busy).login()
            #expect(report.isUnavailable && !report.isOverloaded)
        }
    }

    private static let down = LoginStack.Entry.required(ScriptedModule(.fail(.unavailable("down"))))

    @Test func `while a required module is unavailable every login is refused as unavailable`() async throws {
        for outcome in Self.answers {
            for entries in [
                [.required(FixedVerdictModule(outcome)), Self.down],
                [Self.down, .required(FixedVerdictModule(outcome))],
            ] {
                let report = try await LoginStack(name: "lane", entries, clock: ManualClock()).login()
                #expect(report.outage == Outage(mayBeShown: true, excludesSuccess: true))
                #expect(report.isUnavailable)
            }
        }
    }

    @Test func `the outage of a stack with many modules is computed`() async throws {
        let wrong = LoginStack.Entry.optional(FixedVerdictModule(.failure(.wrongCredentials)))
        let stack = LoginStack(name: "lane", Array(repeating: wrong, count: 100) + [Self.down], clock: ManualClock())
        #expect(try await stack.login().outage == Outage(mayBeShown: true, excludesSuccess: true))
    }

    @Test func `a requisite module before an unavailable module prevents the report of an outage`() async throws {
        for outcome in Self.answers {
            let report = try await stack(.requisite(FixedVerdictModule(outcome)), Self.down).login()
            #expect(report.outage == nil)
            #expect(!report.isUnavailable)
        }
    }

    @Test func `every refusal is unavailable if an unavailable module follows a sufficient module`() async throws {
        for outcome in Self.answers.dropFirst() {
            let report = try await stack(.sufficient(FixedVerdictModule(outcome)), Self.down).login()
            #expect(report.outage == Outage(mayBeShown: true, excludesSuccess: false))
        }
        #expect(try await stack(.sufficient(FixedVerdictModule(.success)), Self.down).login().outage == nil)
    }

    @Test func `an unavailable optional module has no effect`() async throws {
        let down = ScriptedModule(.fail(.unavailable("down")))
        let report = try await stack(.optional(down), .required(FixedVerdictModule(.failure(.wrongCredentials))))
            .login()
        #expect(report.outage == nil)
    }

    @Test func `a module that throws another fault is not reported as unavailable`() async throws {
        let report = try await stack(.required(ScriptedModule(.fail(.internalError("broken"))))).login()
        #expect(report.outage == Outage(mayBeShown: false, excludesSuccess: true))
    }

    /// A module that throws `unavailable` if an earlier module shared a password, and otherwise fails with
    /// `missingCredential`.
    private struct UseFirstPassModule: LoginModule {
        init() {}
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
            guard attempt.shared.secret(.password) != nil else { return .failed(.missingCredential) }
            throw .unavailable("down")
        }
    }

    @Test(arguments: [true, false])
    func `an outage that occurs only after a right password is not reported`(isRight: Bool) async throws {
        let check = ScriptedModule(
            .run { attempt in
                guard isRight else { return .failed(.wrongCredentials) }
                attempt.updateShared { $0[.password] = .secret(Secret(utf8: "right")) }
                return attempt.commit()
            }
        )
        let report = try await stack(.required(check), .required(UseFirstPassModule())).login()
        #expect(report.outage == nil)
        #expect(!report.isUnavailable)
    }

    @Test func `a cancelled call counts as an outage of its module`() async throws {
        for (flag, outage) in [
            (ControlFlag.required, Outage(mayBeShown: true, excludesSuccess: true)),
            (.sufficient, Outage(mayBeShown: true, excludesSuccess: false)), (.requisite, nil),
        ] {
            let slow = ScriptedModule(.hold())
            let first = ScriptedModule(.refuse(.unknownUser))
            let isReached = flag != .requisite
            let stack = stack(LoginStack.Entry(isReached ? first : ScriptedModule(), flag), .required(slow))
            let task = Task { try await stack.login() }
            await slow.untilCalled()
            task.cancel()
            #expect(try await task.value.outage == outage)
        }
    }

    @Test func `an unavailable commit after an accepted login is an outage`() async throws {
        let report = try await stack(.required(ScriptedModule(commit: .fail(.unavailable("down"))))).login()
        #expect(report.outage == Outage(mayBeShown: true, excludesSuccess: true))
    }

    @Test(arguments: [(true, true), (true, false), (false, false)])
    func `a prepared secret counts as presented whether or not a module requests it`(
        isPresent: Bool,
        isRequested: Bool
    ) async throws {
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                if isRequested { _ = try await attempt.password() }
                return .failed(.wrongCredentials)
            }
        )
        let conversation = PreparedConversation(password: isPresent ? Secret(utf8: "x") : nil)
        let report = await stack(.required(module)).login(try request(), asking: conversation)
        #expect(report.presentedSecret == isPresent)
    }
}

extension LoginReport {
    /// True if the login phase refused the user.
    fileprivate var isRefusedInLogin: Bool { refusal != nil && !steps.contains { $0.phase == .commit } }
}

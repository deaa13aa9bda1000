// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import SeededRandom
import Testing

@testable import RealmKit

/// A module that logs the user in at another realm.
private struct NestingModule: LoginModule {
    let inner: BoundRealm
    let calls = CallLog()

    init(_ inner: BoundRealm) { self.inner = inner }
    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { throw BadModule("can be created only in code") }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        switch try await attempt.login(in: inner) {
        case .accepted(let name): return attempt.commit(as: name)
        case .refused(let failure, log: let log):
            guard let log else { return .failed(failure) }
            throw LoginFault(failure, log: log)
        }
    }

    func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        guard attempt.succeeded else { return .ignored }
        attempt.add(try await attempt.commitNested().groups.map(Principal.group))
        return .done
    }

    func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        calls.note(-1)
        try await attempt.abortNested()
        return .done
    }

    func logout(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        calls.note(1)
        try await attempt.logoutNested()
        return .done
    }
}

private struct InnerRealm: Realm {
    let jaasContext = "inner"
    var authType: String { "Inner" }
    static let properties: PropertySchema = []

    init(_ properties: RealmProperties) throws(BadRealm) {}
}

private func inner(_ entries: [LoginStack.Entry], clock: any LoginClock = ManualClock()) throws -> BoundRealm {
    BoundRealm(
        name: "inner",
        className: "InnerRealm",
        realm: try InnerRealm(RealmProperties(schema: [], realmName: "inner")),
        stack: LoginStack(name: "inner", entries, clock: clock),
        assignedGroups: ["assigned"],
        groupMapping: try GroupMapping(rules: ["assigned->derived"])
    )
}

/// Logins at another realm within a call of a module.
struct NestedLoginTests {
    @Test func `a nested login uses the engine, the groups and the name of the other realm`() async throws {
        let seen = CapturedValue<LoginRequest>()
        let module = ScriptedModule(
            .run { attempt in
                seen.set(
                    LoginRequest(
                        realm: attempt.realm,
                        username: attempt.username,
                        service: attempt.service,
                        peer: attempt.peer
                    )
                )
                attempt.note("hello")
                return attempt.commit(groups: ["g"])
            }
        )
        let report = await stack(.required(NestingModule(try inner([.required(module)]))))
            .login(try request(), asking: PreparedConversation.silent)
        #expect(report.identity?.realm == "town")
        #expect(report.groups == ["g", "assigned", "derived"])
        #expect(seen.value == (try request(realm: "inner")))
        #expect(
            report.notes.map(\.text) == [
                "inner: 0 ScriptedModule required login success", "inner: 0 ScriptedModule required commit success",
                "inner: 0 hello",
            ]
        )
    }

    @Test(arguments: LoginFailure.allCases)
    func `a refusal of the other realm is the same refusal here`(failure: LoginFailure) async throws {
        let refused = try await stack(
            .required(NestingModule(try inner([.required(ScriptedModule(.refuse(failure)))])))
        )
        .login()
        #expect(refused.refusal == .module(index: 0, phase: .login, failure: failure))
        let fault = ScriptedModule(.fail(LoginFault(failure, log: "the cause")))
        let failed = try await stack(.required(NestingModule(try inner([.required(fault)])))).login()
        #expect(failed.refusal == .module(index: 0, phase: .login, failure: failure))
        #expect(failed.steps.first?.fault?.log == "realm inner: ScriptedModule: the cause")
        #expect(failed.isUnavailable == failure.isTemporary)
        #expect(failed.mayBeOutage == (failure == .unavailable))
    }

    @Test func `a locked login is evaluated as locked in the other realm too`() async throws {
        let module = ScriptedModule()
        let report = await stack(.required(NestingModule(try inner([.required(module)]))))
            .login(try request(), asking: PreparedConversation.silent, mayGrant: false)
        #expect(report.refusal == .locked)
        #expect(module.phases == [.login, .abort], "the other realm completes no login")
    }

    @Test(arguments: ["right", "wrong"])
    func `the second module of a locked login in the other realm asks its question, as after a wrong password`(
        password: String
    ) async throws {
        let check = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                let isRight = try await attempt.password().isEqual(to: Secret(utf8: "right"))
                return isRight ? attempt.commit() : .failed(.wrongCredentials)
            }
        )
        let code = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                _ = try await attempt.oneTimeCode()
                return attempt.commit(only: [])
            }
        )
        let conversation = RecordingConversation(password: password, code: "1")
        let report = await stack(.required(NestingModule(try inner([.required(check), .required(code)]))))
            .login(try request(), asking: conversation, mayGrant: false)
        #expect(report.refusal == .locked)
        #expect(conversation.questions.count == 2)
    }

    private struct LockingThrottle: LoginThrottle {
        struct Reservation: LoginReservation {
            func mayGrant(_ account: Account) -> Bool { account.realm != "locked" }
            func settle(_ attempts: [RealmAttempt]) async {}
        }

        func reserve(
            _ accounts: [Account],
            by username: Username,
            from peer: String?
        ) async -> any LoginReservation { Reservation() }
    }

    /// The answer after an outage must not depend on the lock: without it, the list of realms stops there.
    @Test(arguments: [WhenUnavailable.stop, .continue], ["right", "wrong"])
    func `a realm that is down and locked lets no later realm accept the user, if the list stops at outages`(
        reaction: WhenUnavailable,
        password: String
    ) async throws {
        let down = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                _ = try await attempt.password()
                throw .unavailable("down")
            }
        )
        let later = ScriptedModule()
        func bound(_ name: String, _ module: ScriptedModule) throws -> BoundRealm {
            BoundRealm(
                name: name,
                className: "InnerRealm",
                realm: try InnerRealm(RealmProperties(schema: [], realmName: name)),
                stack: LoginStack(name: name, [.required(module)], clock: ManualClock())
            )
        }
        let authenticator = Authenticator(
            [try bound("locked", down), try bound("open", later)],
            throttle: LockingThrottle()
        )
        let report = try await authenticator.login(
            as: Username("ann"),
            inFirstOf: ["locked", "open"],
            whenUnavailable: reaction,
            asking: RecordingConversation(password: password)
        )
        #expect((report.identity != nil) == (reaction == .continue))
        #expect(later.phases.first == .login)
    }

    @Test func `the logout reaches the other realm once, also after a later module has refused`() async throws {
        let module = ScriptedModule()
        let nesting = NestingModule(try inner([.required(module)]))
        let refused = try await stack(.required(nesting), .required(ScriptedModule(.refuse(.wrongCredentials)))).login()
        #expect(refused.identity == nil)
        #expect(module.phases == [.login, .abort], "nothing is committed before the decision")

        let accepted = try #require(try await stack(.required(nesting)).login().identity)
        accepted.forgetNotes()
        for _ in 0..<2 { #expect(await accepted.logout().refusal == nil) }
        #expect(module.phases == [.login, .abort, .login, .commit, .logout])
        #expect(nesting.calls.all == [-1, 1, 1])
    }

    @Test func `a failed commit of the other realm refuses the login, and a commit before a failure is logged out`()
        async throws
    {
        let failing = ScriptedModule(commit: .run { _ throws(LoginFault) in throw .unavailable("the disk is full") })
        let refused = try await stack(.required(NestingModule(try inner([.required(failing)])))).login()
        #expect(refused.refusal == .module(index: 0, phase: .commit, failure: .unavailable))
        #expect(refused.steps.compactMap(\.fault?.log).first == "realm inner: ScriptedModule: the disk is full")
        #expect(failing.phases == [.login, .commit, .abort])

        let module = ScriptedModule()
        let report = try await stack(
            .required(NestingModule(try inner([.required(module)]))),
            .required(ScriptedModule(commit: .run { _ throws(LoginFault) in throw .internalError("x") }))
        )
        .login()
        #expect(report.identity == nil)
        #expect(module.phases == [.login, .commit, .logout])
    }

    @Test func `a name that only a failed commit of the other realm has established is not granted`() async throws {
        let (ann, ben) = (try Username("ann"), try Username("ben"))
        let first = ScriptedModule(
            .run { attempt in attempt.commit(as: ann) },
            commit: .run { _ throws(LoginFault) in throw .unavailable("down") }
        )
        let second = ScriptedModule(.run { attempt in attempt.commit(as: ben) })
        let report = try await stack(
            .required(NestingModule(try inner([.optional(first), .required(second)])))
        )
        .login()
        #expect(report.identity == nil)
        #expect(report.refusal == .module(index: 0, phase: .commit, failure: .internalError))
    }

    @Test func `secrets for the other realm count as presented here`() async throws {
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                _ = try await attempt.password()
                return .failed(.wrongCredentials)
            }
        )
        // This conversation does not tell that it has a password.
        let report = await stack(.required(NestingModule(try inner([.required(module)]))))
            .login(try request(), asking: RecordingConversation(password: "x"))
        #expect(report.presentedSecret)
    }

    @Test func `the wait for the user does not count towards the deadline of the outer module`() async throws {
        let clock = ManualClock()
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                _ = try await attempt.password()
                return attempt.commit()
            }
        )
        let nesting = NestingModule(
            try inner([LoginStack.Entry(module, .required, deadline: .seconds(1))], clock: clock)
        )
        let outer = stack(LoginStack.Entry(nesting, .required, deadline: .seconds(2)), clock: clock)
        let password = PreparedConversation(password: Secret(utf8: "x"))
        let conversation = RecordingConversation([.held(password)])
        let task = Task { await outer.login(try request(), asking: conversation) }
        await conversation.untilCalled()
        for _ in 0..<20 {
            clock.advance(by: .seconds(10))
            await Task.yield()
        }
        conversation.release()
        #expect(try await task.value.identity != nil)
    }

    @Test func `a hanging module of the other realm ends at its own deadline, and at the outer one`() async throws {
        for (innerLimit, outerLimit) in [(1, 30), (30, 1)] {
            let clock = ManualClock()
            let hanging = ScriptedModule(.hold())
            let nesting = NestingModule(
                try inner([LoginStack.Entry(hanging, .required, deadline: .seconds(innerLimit))], clock: clock)
            )
            let outer = stack(LoginStack.Entry(nesting, .required, deadline: .seconds(outerLimit)), clock: clock)
            let task = Task { await outer.login(try request(), asking: PreparedConversation.silent) }
            await hanging.untilCalled()
            let report = try await value(of: task, moving: clock, by: .milliseconds(100))
            #expect(report.isUnavailable)
            #expect(report.refusal == .module(index: 0, phase: .login, failure: .unavailable))
            hanging.release()
        }
    }

    @Test func `a cancelled login is refused, and the other realm is aborted`() async throws {
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                _ = try await attempt.password()
                return attempt.commit()
            }
        )
        let outer = stack(.required(NestingModule(try inner([.required(module)]))))
        let conversation = RecordingConversation([.never])
        let task = Task { await outer.login(try request(), asking: conversation) }
        await conversation.untilCalled()
        task.cancel()
        #expect(try await task.value.isUnavailable)
        await module.untilCalled(2)
        #expect(module.phases == [.login, .abort])
    }

    // MARK: Outages

    private static let answers: [Outcome] = [.success, .ignored, .failure(.wrongCredentials), .failure(.locked)]
    private static let faults = [LoginFailure.unavailable, .overloaded, .internalError].map(Outcome.failure)

    private struct RandomEntry {
        let flag: ControlFlag
        let fault: Outcome?
    }

    /// The refusals of all logins that are possible while the same modules are down must not differ in their outage:
    /// neither the response nor the counter of failed logins may reveal the outcome of a module of either realm.
    @Test(arguments: 0..<150)
    func `while modules are unavailable, all refusals with a nested login report the same outage`(
        seed: UInt64
    ) async throws {
        var random = Random(seed: seed)
        let entries = (0..<(2 + random.below(3))).map { _ in
            RandomEntry(
                flag: random.pick(ControlFlag.allCases),
                fault: random.below(3) == 0 ? random.pick(Self.faults) : nil
            )
        }
        let innerCount = 1 + random.below(entries.count)
        let place = random.below(entries.count - innerCount + 1)
        let flag = random.pick(ControlFlag.allCases)
        var combinations: [[Int: Outcome]] = [[:]]
        for index in entries.indices where entries[index].fault == nil {
            combinations = combinations.flatMap { combination in
                Self.answers.map { combination.merging([index: $0]) { $1 } }
            }
        }
        var open: Set<Outage?> = []
        var locked: Set<Outage?> = []
        var accepted = 0
        for combination in combinations {
            let made = entries.enumerated().map { index, entry in
                LoginStack.Entry(
                    FixedVerdictModule(entry.fault ?? combination[index] ?? .ignored, index: index),
                    entry.flag
                )
            }
            let realm = try inner(Array(made[..<innerCount]))
            var all = Array(made[innerCount...])
            all.insert(LoginStack.Entry(NestingModule(realm), flag), at: place)
            let outer = LoginStack(name: "outer", all, clock: ManualClock())
            for mayGrant in [true, false] {
                let report = await outer.login(
                    try request(),
                    asking: PreparedConversation.silent,
                    mayGrant: mayGrant
                )
                if report.refusal == nil {
                    accepted += 1
                } else if mayGrant {
                    open.insert(report.outage)
                } else {
                    locked.insert(report.outage)
                }
            }
        }
        #expect(open.count <= 1, "the refusals differ: \(open)")
        if !open.isEmpty { #expect(locked == open) }
        if open.contains(where: { $0?.excludesSuccess == true }) { #expect(accepted == 0) }
    }

    /// While one way to sign in is down and the other is not, a wrong password is a guess.
    @Test func `a guess at a module that is up counts while another module of the other realm is down`() async throws {
        let down = ScriptedModule(.fail(.unavailable("down")))
        let wrong = FixedVerdictModule(.failure(.wrongCredentials))
        let realm = try inner([.sufficient(down), .sufficient(wrong)])
        let report = try await stack(.required(NestingModule(realm))).login()
        #expect(report.outage == Outage(mayBeShown: true, excludesSuccess: false))
    }
}

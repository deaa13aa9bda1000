// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import SeededRandom
import Synchronization
import Testing

@testable import RealmKit

struct LockedLoginTests {
    private func login(_ stack: LoginStack, mayGrant: Bool) async throws -> LoginReport {
        await stack.login(try request(), asking: PreparedConversation.silent, mayGrant: mayGrant)
    }

    @Test func `a locked login is aborted instead of committed`() async throws {
        let module = ScriptedModule(.accept(groups: ["Staff"]))
        let report = try await login(stack(.required(module), .required(FixedVerdictModule(.success))), mayGrant: false)
        #expect(report.refusal == .locked)
        #expect(report.refusal?.failure == .locked)
        #expect(report.identity == nil)
        guard case .refused(.locked) = report.decision else {
            Issue.record("the login was accepted")
            return
        }
        #expect(report.calls == ["0.login=success", "1.login=success", "0.abort=success", "1.abort=success"])
        #expect(report.steps.prefix(2).map(\.state) == [.refusing, .refusing])
        #expect(module.phases == [.login, .abort])
    }

    @Test(arguments: 0..<200)
    func `a login to a locked account calls the same modules as a refused login, and commits nothing`(
        seed: UInt64
    ) async throws {
        var random = Random(seed: seed)
        let outcomes = [Outcome.success, .success, .ignored, .failure(.wrongCredentials), .failure(.unavailable)]
        let plan = (0..<random.below(5)).map { _ in
            (random.pick(outcomes), random.below(2) == 0, random.pick(ControlFlag.allCases))
        }
        func stack(hasRightPassword: Bool) -> LoginStack {
            let entries = plan.enumerated().map { index, place in
                let outcome = !hasRightPassword && place.0 == .success ? .failure(.wrongCredentials) : place.0
                let module: any LoginModule =
                    place.1 ? FixedVerdictModule(outcome, index: index) : ScriptedModule(behavior(outcome))
                return LoginStack.Entry(module, place.2)
            }
            return LoginStack(name: "lane", entries, clock: ManualClock())
        }
        func reached(_ report: LoginReport, _ phase: LoginPhase) -> [Int] {
            report.steps.filter { $0.phase == phase }.map(\.index)
        }
        let guessing = try await login(stack(hasRightPassword: false), mayGrant: true)
        let locked = try await login(stack(hasRightPassword: true), mayGrant: false)
        let lockedGuessing = try await login(stack(hasRightPassword: false), mayGrant: false)
        for report in [locked, lockedGuessing] {
            #expect(reached(report, .login) == reached(guessing, .login))
            #expect(reached(report, .abort) == reached(report, .login))
            #expect(reached(report, .commit) == [])
            #expect(report.identity == nil)
            // Like the refusal of a wrong password, this refusal reveals only an outage.
            #expect((report.refusal?.failure == .unavailable) == (guessing.refusal?.failure == .unavailable))
            if report.refusal?.failure != .unavailable { #expect(report.refusal == .locked) }
        }
    }

    /// A module that shares the password with the next module when it succeeds, like a module with `storePass`.
    private struct StoringModule: LoginModule {
        init() {}
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
            attempt.updateShared { $0[.password] = .secret(Secret(utf8: "right")) }
            return attempt.commit()
        }
    }

    /// A module that records whether there is a shared password.
    private final class ReadingModule: LoginModule {
        let found = Mutex<Bool?>(nil)
        init() {}
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
            found.withLock { $0 = attempt.shared.secret(.password) != nil }
            return .ignored
        }
    }

    @Test(arguments: [true, false])
    func `shared state of a success that does not count is removed`(mayGrant: Bool) async throws {
        let reader = ReadingModule()
        _ = try await login(stack(.required(StoringModule()), .required(reader)), mayGrant: mayGrant)
        #expect(reader.found.withLock { $0 } == mayGrant)
    }

    /// A module that goes on only after the right password, and then fails or asks.
    private static func module(
        after check: @escaping @Sendable (LoginAttempt) async throws(LoginFault) -> Verdict
    ) -> ScriptedModule {
        ScriptedModule(
            .run { attempt async throws(LoginFault) in
                let password = try await attempt.password()
                guard password.isEqual(to: Secret(utf8: "right")) else { return .failed(.wrongCredentials) }
                return try await check(attempt)
            }
        )
    }

    private func locked(
        _ module: ScriptedModule,
        _ password: String,
        asking conversation: RecordingConversation? = nil
    ) async throws -> LoginReport {
        await stack(.required(module)).login(
            try request(),
            asking: conversation ?? RecordingConversation(password: password),
            mayGrant: false
        )
    }

    @Test(arguments: [
        LoginFailure.unavailable, .overloaded, .internalError, .credentialExpired, .disabled, .accountExpired,
    ])
    func `what a module finds after the right password of a locked account counts as a wrong password`(
        failure: LoginFailure
    ) async throws {
        for throwsFault in [true, false] {
            let module = Self.module { (_) async throws(LoginFault) in
                if throwsFault { throw LoginFault(failure, log: "the groups cannot be read") }
                return .failed(failure)
            }
            let (right, wrong) = (try await locked(module, "right"), try await locked(module, "wrong"))
            for report in [right, wrong] {
                #expect(report.refusal == .locked && report.outage == nil && !report.isUnavailable)
                #expect(report.calls == ["0.login=wrong-credentials", "0.abort=ignored"])
                #expect(report.presentedSecret)
            }
            // Without a lock the outage is shown.
            let free = await stack(.required(module)).login(
                try request(),
                asking: RecordingConversation(password: "right")
            )
            #expect(free.refusal?.failure == failure)
        }
    }

    @Test func `an outage before the secret of a locked account is shown as that of every other account`() async throws
    {
        let module = ScriptedModule(.refuse(.unavailable))
        let report = try await locked(module, "right")
        #expect(report.refusal?.failure == .unavailable && report.isUnavailable)
    }

    @Test func `after the secret a module of a locked account asks the user nothing more`() async throws {
        let module = Self.module { (attempt) async throws(LoginFault) in
            _ = try await attempt.newPassword(instead: Secret(utf8: "right")) { _ in nil }
            return attempt.commit()
        }
        let conversation = RecordingConversation(password: "right")
        let report = try await locked(module, "right", asking: conversation)
        #expect(conversation.questions.count == 1)
        #expect(report.refusal == .locked)
        #expect(report.calls == (try await locked(module, "wrong")).calls)
    }

    @Test func `the second module of a locked account asks its question, as after a wrong password`() async throws {
        let code = ScriptedModule(
            .run { attempt async throws(LoginFault) in
                _ = try await attempt.oneTimeCode()
                return attempt.commit()
            }
        )
        for password in ["right", "wrong"] {
            let conversation = RecordingConversation(password: password, code: "1")
            let report = await stack(.required(Self.module { $0.commit() }), .required(code)).login(
                try request(),
                asking: conversation,
                mayGrant: false
            )
            #expect(conversation.questions.count == 2)
            #expect(report.refusal == .locked)
        }
    }

    private func behavior(_ outcome: Outcome) -> ScriptedModule.Behavior {
        if let failure = outcome.failure { return .refuse(failure) }
        return outcome == .success ? .accept(groups: ["Staff"]) : .ignore
    }

    @Test func `a locked login that is cancelled is refused as unavailable`() async throws {
        let module = ScriptedModule(.hold())
        let stack = stack(.required(module))
        let task = Task { try await login(stack, mayGrant: false) }
        await module.untilCalled()
        task.cancel()
        #expect(try await task.value.refusal?.failure == .unavailable)
    }
}

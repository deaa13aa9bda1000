// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

/// Modules that break the contract of `LoginModule` in order to attack the engine.
struct HostileModuleTests {
    /// A module made of two closures.
    private struct ClosureModule: ImmediateLoginModule {
        let login: @Sendable (LoginAttempt) throws(LoginFault) -> Verdict
        var committing: @Sendable (LoginAttempt) throws(LoginFault) -> Completion = { attempt in
            attempt.succeeded ? .done : .ignored
        }

        init(
            _ login: @escaping @Sendable (LoginAttempt) throws(LoginFault) -> Verdict,
            commit: (@Sendable (LoginAttempt) throws(LoginFault) -> Completion)? = nil
        ) {
            self.login = login
            if let commit { committing = commit }
        }

        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
            throw BadModule("can be created only in code")
        }

        func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict { try login(attempt) }
        func commit(_ attempt: LoginAttempt) throws(LoginFault) -> Completion { try committing(attempt) }
    }

    @Test func `an answer after the deadline is rejected even if no timer has fired`() async throws {
        let clock = ManualClock()
        // The clock advances within the call, and no task wakes in time, as if all threads were blocked.
        let slow = ScriptedModule(
            .run { attempt in
                clock.advance(by: .seconds(6))
                return attempt.commit(groups: ["Admin"])
            }
        )
        let report = try await stack(LoginStack.Entry(slow, .required, deadline: .seconds(5)), clock: clock).login()
        #expect(report.refusal == .module(index: 0, phase: .login, failure: .unavailable))
    }

    @Test func `if a module creates several successes, only the returned success counts`() async throws {
        let admin = try Username("admin")
        let module = ClosureModule { attempt in
            _ = attempt.commit(as: admin, groups: ["wheel"])
            let verdict = attempt.commit(groups: ["User"])
            _ = attempt.commit(only: [.group("late")])
            return verdict
        }
        let report = try await stack(.required(module)).login("ann")
        #expect(report.groups == ["User"])
        #expect(report.identity?.username == (try Username("ann")))
        #expect(report.identity?.subject.users == ["ann"])
    }

    @Test func `a failed commit in a sub-stack adds neither its groups nor its user`() async throws {
        let liar = ClosureModule({ _ in .failed(.wrongCredentials) }, commit: { _ in .done })
        let root = try Username("root")
        let spoiled = ClosureModule(
            { $0.commit(as: root, groups: ["B"]) },
            commit: { _ throws(LoginFault) in throw .internalError("no") }
        )
        let good = ClosureModule { $0.commit(groups: ["C"]) }
        func entry(_ module: ClosureModule, _ flag: ControlFlag, level: Int) -> LoginStack.Entry {
            LoginStack.Entry(module, ActionTable(flag), control: flag.rawValue, name: "m", level: level)
        }
        let report = try await stack(
            .substack("s"),
            entry(liar, .sufficient, level: 1),
            entry(spoiled, .required, level: 1),
            entry(good, .required, level: 0)
        ).login("ann")
        #expect(report.groups == nil || report.groups == ["C"])
        #expect(report.identity?.username.text != "root")
    }

    @Test func `the name in the request is used only if no module names the user`() async throws {
        let guest = try Username("guest7")
        let code = ClosureModule { $0.commit(only: []) }
        let failing = ClosureModule(
            { $0.commit(as: guest) },
            commit: { _ throws(LoginFault) in throw .unavailable("down") }
        )
        let forgetful = ClosureModule({ $0.commit(as: guest) }, commit: { _ in .ignored })
        for stack in [
            stack(.required(code), .optional(failing)), stack(.required(code), .sufficient(failing)),
            stack(.required(code), .required(forgetful)), stack(.required(code), .optional(forgetful)),
        ] {
            #expect(try await stack.login("root").refusal == .noUserEstablished)
        }
        let named = try await stack(.required(code), .optional(ClosureModule { $0.commit(as: guest) })).login("root")
        #expect(named.identity?.username == guest)
        // If no module of the stack names the user, the identity has the name in the request.
        #expect(try await stack(.required(code)).login("root").identity?.username.text == "root")
    }

    @Test func `changes of the shared state after a module has returned are discarded`() async throws {
        let captured = CapturedValue<LoginAttempt>()
        let key = SharedState.Key("x")
        let first = ClosureModule { attempt in
            captured.set(attempt)
            attempt.updateShared { $0[key] = .text("in time") }
            return attempt.commit(groups: [])
        }
        let second = ClosureModule { attempt in
            captured.value?.updateShared { $0[key] = .text("late") }
            return attempt.commit(groups: [attempt.shared.text(key) ?? "nothing"])
        }
        #expect(try await stack(.required(first), .required(second)).login().groups == ["in time"])
    }

    @Test func `groups are compared byte by byte`() async throws {
        // U+212A KELVIN SIGN is canonically equivalent to K.
        let module = ClosureModule { $0.commit(groups: ["\u{212A}admin"]) }
        let identity = try #require(try await stack(.required(module)).login().identity)
        #expect(!identity.isMember(of: "Kadmin"))
        #expect(!identity.subject.isMember(of: "Kadmin"))
        #expect(identity.isMember(of: "\u{212A}admin"))
        #expect(Principal.group("\u{E9}") != Principal.group("e\u{301}"))
    }

    @Test func `a negative level counts as level 0`() async throws {
        let module = ClosureModule { $0.commit(groups: ["g"]) }
        let entry = LoginStack.Entry(module, ActionTable(.required), control: "required", name: "m", level: -1)
        #expect(try await stack(entry).login().groups == ["g"])
    }
}

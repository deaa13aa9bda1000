// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

struct LoginContextTests {
    /// Returns a module with the given results of successive logins.
    private func module(_ name: String, _ answers: [Bool]) -> ScriptedModule {
        let count = CallLog()
        return ScriptedModule(
            .run { attempt in
                let answer = answers[min(count.all.count, answers.count - 1)]
                count.note(0)
                return answer ? attempt.commit(only: [.user(name)]) : .failed(.wrongCredentials)
            }
        )
    }

    @Test func `a refused login removes the principals of an earlier login, even if it does not reach their modules`()
        async throws
    {
        let stack = stack(.requisite(module("a", [true, false])), .required(module("b", [true])))
        let context = LoginContext(stack, subject: Subject([.user("given")]))
        _ = await context.login(try request(), asking: PreparedConversation.silent)
        #expect(context.subject?.users == ["given", "a", "b"])
        _ = await context.login(try request(), asking: PreparedConversation.silent)
        #expect(context.subject?.users == ["given"])
    }

    @Test
    func `a logout removes the principals of an earlier login, even if the last login did not reach their modules`()
        async throws
    {
        let stack = stack(.sufficient(module("a", [false, true])), .required(module("b", [true])))
        let context = LoginContext(stack, subject: Subject())
        _ = await context.login(try request(), asking: PreparedConversation.silent)
        #expect(context.subject?.users == ["b"])
        _ = await context.login(try request(), asking: PreparedConversation.silent)
        #expect(context.subject?.users == ["a"])
        _ = await context.logout()
        #expect(context.subject?.users == [])
    }

    @Test func `a context without a given subject has no subject before a success and after a refusal`() async throws {
        let stack = stack(.required(module("a", [false, true, false])))
        let context = LoginContext(stack)
        #expect(context.subject == nil)
        #expect(await context.logout() == nil)
        for users in [nil, ["a"], nil] {
            _ = await context.login(try request(), asking: PreparedConversation.silent)
            #expect(context.subject?.users == users)
        }
    }

    @Test func `a logout removes the principals of a module unless the module throws`() async throws {
        let stubborn = ScriptedModule(
            .run { $0.commit(only: [.user("b")]) },
            logout: .fail(.unavailable("the directory is down"))
        )
        let stack = stack(.required(module("a", [true])), .optional(stubborn), .required(module("c", [true])))
        let context = LoginContext(stack, subject: Subject([.user("given"), .group("old")]))
        _ = await context.login(try request(), asking: PreparedConversation.silent)
        #expect(context.subject?.users == ["given", "a", "b", "c"])
        let report = try #require(await context.logout())
        #expect(context.subject?.principals == [.user("given"), .group("old"), .user("b")])
        #expect(report.refusal == nil)
        #expect(report.steps.map(\.call) == ["0.logout=success", "1.logout=unavailable", "2.logout=success"])
    }

    @Test func `a logout calls only the modules that the login reached`() async throws {
        let unreached = ScriptedModule()
        let stack = stack(.sufficient(ScriptedModule()), .required(unreached))
        let identity = try #require(try await stack.login().identity)
        let report = await stack.logout(identity)
        #expect(report.steps.map(\.call) == ["0.logout=success"])
        #expect(unreached.calls == [])
    }

    @Test func `the attempt of a logout has the user, and whether the module succeeded`() async throws {
        let seen = CapturedValue<[String]>()
        let module = ScriptedModule(
            .refuse(.wrongCredentials),
            logout: .run { attempt in
                seen.set([attempt.realm, attempt.username.text, attempt.service, "\(attempt.succeeded)"])
                return .done
            }
        )
        let stack = stack(
            .optional(module),
            .required(ScriptedModule(.run { $0.commit(as: (try? Username("ann.lee")) ?? $0.username) }))
        )
        let identity = try #require(try await stack.login("Ann").identity)
        _ = await stack.logout(identity)
        #expect(seen.value == ["town", "ann.lee", "tests", "false"])
    }

    @Test(arguments: [(ControlFlag.required, true), (.requisite, true), (.sufficient, false), (.optional, false)])
    func `a failed logout counts under its flag`(flag: ControlFlag, refuses: Bool) async throws {
        let broken = ScriptedModule(logout: .fail(.internalError("broken")))
        let last = ScriptedModule()
        let stack = stack(.required(ScriptedModule()), LoginStack.Entry(broken, flag), .required(last))
        let context = LoginContext(stack)
        _ = await context.login(try request(), asking: PreparedConversation.silent)
        let report = try #require(await context.logout())
        #expect(report.refusal == (refuses ? .module(index: 1, phase: .logout, failure: .internalError) : nil))
        #expect(last.phases.last == (flag == .sufficient ? nil : .logout))
    }
}

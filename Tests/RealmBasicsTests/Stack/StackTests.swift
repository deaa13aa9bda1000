// SPDX-License-Identifier: Apache-2.0

import RealmBasics
import RealmKit
import RealmTesting
import Testing

struct StackTests {
    private func realm() throws -> StackRealm {
        let values: [String: PropertyValue] = ["jaas-context": .string("lane")]
        return try StackRealm(RealmProperties(values, schema: StackRealm.properties, realmName: "s"))
    }

    private func scripted(_ options: [String: String]) throws -> ScriptedLoginModule {
        var values: [String: PropertyValue] = [:]
        for (name, text) in options {
            let kind = try #require(ScriptedLoginModule.options[name]).kind
            values[name] = try PropertyValue(
                kind == .list ? text.split(separator: " ").map(String.init) : [text],
                as: kind
            )
        }
        let checked = try ModuleOptions(values, schema: ScriptedLoginModule.options, realmName: "s")
        return try ScriptedLoginModule(realm: try realm(), options: checked)
    }

    private func permit(_ groups: [String] = []) throws -> PermitLoginModule {
        let options = try ModuleOptions(["groups": .list(groups)], schema: PermitLoginModule.options, realmName: "s")
        return try PermitLoginModule(realm: try realm(), options: options)
    }

    private func login(_ entries: LoginStack.Entry...) async throws -> LoginReport {
        let request = LoginRequest(realm: "s", username: try Username("ann"))
        let stack = LoginStack(name: "lane", entries, clock: ManualClock())
        return await stack.login(request, asking: PreparedConversation.silent)
    }

    @Test func `the realm passes the conformance tests`() async {
        let conformance = RealmConformance(
            StackRealm.self,
            properties: ["jaas-context": ["lane"]],
            unknownUsers: ["ann"]
        )
        #expect(await conformance.violations() == [])
        #expect(StackRealm.properties["jaas-context"]?.isRequired == true)
    }

    @Test func `PermitLoginModule accepts every user, and DenyLoginModule rejects every user`() async throws {
        let deny = try DenyLoginModule(realm: try realm(), options: ModuleOptions(schema: [], realmName: "s"))
        #expect(try await login(.init(try permit(["a", "b"]), .required)).identity?.groups == ["a", "b"])
        let report = try await login(.init(try permit(), .required), .init(deny, .required))
        #expect(report.refusal == .module(index: 1, phase: .login, failure: .permissionDenied))
    }

    @Test(arguments: LoginFailure.allCases) func `a scripted module returns and throws the configured failure`(
        failure: LoginFailure
    ) async throws {
        for word in [failure.code, "throw:\(failure.code)"] {
            let report = try await login(.init(try scripted(["login": word]), .required))
            #expect(report.refusal == .module(index: 0, phase: .login, failure: failure))
            #expect((report.steps[0].fault != nil) == word.hasPrefix("throw:"))
        }
    }

    @Test func `a scripted module that succeeds adds its groups and its principal`() async throws {
        let module = try scripted(["groups": "a b", "principal": "m0"])
        let report = try await login(.init(module, .required))
        #expect(report.identity?.subject.principals == [.user("ann"), .group("a"), .group("b"), .user("m0")])
    }

    @Test func `each call returns the next configured result, and the last result repeats`() async throws {
        let module = try scripted(["login": "wrong-credentials,ignored,success"])
        var outcomes: [String] = []
        for _ in 0..<4 { outcomes.append("\(try await login(.init(module, .required)).steps[0].outcome)") }
        #expect(outcomes == ["wrong-credentials", "ignored", "success", "success"])
    }

    @Test func `commit, abort and logout have their own results`() async throws {
        let late = try scripted(["commit": "throw:unavailable", "abort": "ignored"])
        let report = try await login(.init(late, .required))
        #expect(report.refusal == .module(index: 0, phase: .commit, failure: .unavailable))
        #expect(report.steps.last?.outcome == .ignored)
        let loyal = try scripted(["logout": "throw:internal-error"])
        let identity = try #require(try await login(.init(loyal, .required)).identity)
        let stack = LoginStack(name: "lane", [.init(loyal, .required)], clock: ManualClock())
        #expect(await stack.logout(identity).refusal == .module(index: 0, phase: .logout, failure: .internalError))
    }

    @Test func `CVE-2026-54730: a forged success never grants a login`() async throws {
        let module = try scripted(["login": "forged"])
        for _ in 0..<3 { #expect(try await login(.init(module, .required)).identity == nil) }
    }

    @Test(arguments: ["yes", "throw:", "throw:nothing", "success,nope", "Success"])
    func `an unknown result is rejected when the module is created`(word: String) throws {
        let error = #expect(throws: BadModule.self) { try scripted(["login": word]) }
        #expect(error?.setting == "login")
        #expect(error?.message.hasPrefix("has no result ") == true)
    }

    @Test func `each module is registered under the name of its type`() {
        #expect(PermitLoginModule.moduleNames == ["PermitLoginModule"])
        #expect(DenyLoginModule.moduleNames == ["DenyLoginModule"])
        #expect(ScriptedLoginModule.moduleNames == ["ScriptedLoginModule"])
    }
}

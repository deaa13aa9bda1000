// SPDX-License-Identifier: Apache-2.0

import LoginConf
import RealmConfiguration
import RealmKit
import SeededRandom
import Testing

/// Tables of outcomes in `login` blocks.
struct OutcomeTableTests {
    private func login(_ modules: String) async throws -> LoginReport {
        let configuration = try MemoryFolder(
            "login c { \(modules) }\nrealm r { class StackRealm; jaas-context c; }"
        ).load()
        let request = LoginRequest(realm: "r", username: try Username("ann"))
        return try await configuration.authenticator.login(request, asking: PreparedConversation.silent)
    }

    private func modules(_ text: String) throws -> [ModuleEntry] {
        let statements = try RealmsConf.parse(SourceText(name: "realms.conf", "login c { \(text) }")).get()
        guard case .login(let modules)? = statements.first?.body else { throw BadValue("there is no login block") }
        return modules
    }

    @Test(
        arguments: [
            (ControlFlag.required, "[success=ok ignored=ignore default=bad]"),
            (.requisite, "[success=ok ignored=ignore default=die]"),
            (.sufficient, "[success=done default=ignore]"), (.optional, "[success=ok default=ignore]"),
        ]
    )
    func `the four flags can be written as tables`(flag: ControlFlag, text: String) throws {
        let table = try #require(try modules("M \(text);").first).outcomes.table
        let outcomes = [Outcome.success, .ignored] + LoginFailure.allCases.map(Outcome.failure)
        for outcome in outcomes { #expect(table[outcome] == ActionTable(flag)[outcome], "\(outcome)") }
    }

    @Test func `an outcome that the table does not cover counts as a failure, as in PAM`() throws {
        let table = try #require(try modules("M [success=ok];").first).outcomes.table
        #expect(table[.ignored] == .bad)
        for failure in LoginFailure.allCases { #expect(table[.failure(failure)] == .bad) }
    }

    @Test func `the names of PAM stand for the same outcomes`() throws {
        let entry = try #require(
            try modules("M [success=1 authinfo_unavail=ignore acct_expired=die default=bad] a=b;").first
        )
        let table = entry.outcomes.table
        #expect(table[.success] == .jump(1))
        #expect(table[.failure(.unavailable)] == .ignore)
        #expect(table[.failure(.accountExpired)] == .die && table[.failure(.disabled)] == .die)
        #expect(entry.control == "[success=1 unavailable=ignore account-expired=die disabled=die default=bad]")
        #expect(entry.options.map(\.key) == ["a"])
    }

    @Test func `an unavailable module lets the next module decide, and a refusal does not`() async throws {
        let first = { (outcome: String) -> String in
            "ScriptedLoginModule [success=done unavailable=ignore default=die] login=\(outcome) groups=First; "
        }
        let next = "PermitLoginModule required groups=Next;"
        #expect(try await login(first("success") + next).identity?.groups == ["First"])
        #expect(try await login(first("unavailable") + next).identity?.groups == ["Next"])
        #expect(try await login(first("\"throw:unavailable\"") + next).identity?.groups == ["Next"])
        for refusal in ["wrong-credentials", "unknown-user", "ignored", "locked", "overloaded", "internal-error"] {
            #expect(try await login(first(refusal) + next).identity == nil, "\(refusal)")
        }
        let report = try await login(first("unavailable") + next)
        #expect(report.steps.first?.control == "[success=done unavailable=ignore default=die]")
    }

    @Test func `a jump skips modules`() async throws {
        let report = try await login(
            "ScriptedLoginModule [success=1 default=ignore]; DenyLoginModule requisite; PermitLoginModule required;"
        )
        #expect(report.identity != nil)
        #expect(report.steps.filter { $0.phase == .login }.map(\.index) == [0, 2])
    }

    @Test func `no text in brackets makes the parser fail without an error, or read beyond the table`() throws {
        var random = Random(seed: 13)
        let words = [
            "success=ok", "default=die", "unavailable=ignore", "x=1", "=", "a", "[", "]", ";", "{", "}", "\"", "//",
            "é", "\n",
        ]
        for _ in 0..<5000 {
            let inner = (0..<random.below(6)).map { _ in words[random.below(words.count)] }.joined(separator: " ")
            let text = SourceText(name: "realms.conf", "login c { M [\(inner)] a=b; }\ndefault-realm r;")
            let parsed = RealmsConf.parse(text)
            guard !parsed.hasErrors else {
                #expect(!parsed.diagnostics.isEmpty)
                continue
            }
            let statements = try parsed.get()
            guard case .login(let modules)? = statements.first?.body else {
                Issue.record("accepted without a login block: \(inner)")
                continue
            }
            #expect(
                modules.allSatisfy {
                    $0.outcomes.isEmpty ? true : $0.outcomes.table[.failure(.wrongCredentials)] != .ok
                }
            )
            #expect(modules[0].options.map(\.key) == ["a"], "\(inner)")
        }
    }
}

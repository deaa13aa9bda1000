// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

/// The conformance test finds violations of the contract of `LoginModule`.
struct LoginModuleConformanceTests {
    typealias Credential = LoginModuleConformance.Credential

    private static let users = ["ann": "lilac", "bob": "basil", "cid": "clove"]

    /// Checks a password, as a correct module does.
    private static func check(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        let password = try await attempt.password()
        guard let right = users[attempt.username.text], Secret(utf8: right).isEqual(to: password) else {
            return .failed(users[attempt.username.text] == nil ? .unknownUser : .wrongCredentials)
        }
        return attempt.commit(groups: ["of \(attempt.username)"])
    }

    private func violations(
        of module: ScriptedModule,
        refuses: [Credential] = [
            Credential("ann", password: "basil"), Credential("ann", password: ""),
            Credential("nobody", password: "lilac"),
        ],
        timeLimit: Duration = .seconds(60)
    ) async -> [String] {
        await LoginModuleConformance(
            module,
            accepts: Self.users.map { Credential($0.key, password: $0.value) },
            refuses: refuses,
            timeLimit: timeLimit
        ).violations()
    }

    @Test func `a good module has no violations`() async {
        #expect(await violations(of: ScriptedModule(.run(Self.check))) == [])
    }

    @Test func `a module that accepts every user is reported`() async {
        let found = await violations(of: ScriptedModule())
        #expect(found.contains("nobody should be refused, but is accepted"))
        #expect(found.contains { $0.hasSuffix("is accepted with a conversation that has no answers") })
    }

    @Test func `a module that refuses every user is reported`() async {
        let found = await violations(of: ScriptedModule(.refuse(.locked)))
        #expect(found.contains("ann should be accepted, but is refused: locked"))
    }

    /// The defect of CVE-2026-33544: the module keeps data of one login in a property that all logins share.
    @Test func `a module that mixes up concurrent logins is reported`() async {
        let last = CapturedValue<String>()
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                last.set(attempt.username.text)
                let verdict = try await Self.check(attempt)
                guard case .success = verdict else { return verdict }
                for _ in 0..<1000 where last.value == attempt.username.text { await Task.yield() }
                return attempt.commit(only: [.group("of \(last.value ?? "")")])
            }
        )
        #expect(await violations(of: module).contains { $0.hasPrefix("among 200 concurrent logins, ") })
    }

    @Test func `a module that requests no password of unknown users is reported`() async {
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                guard Self.users[attempt.username.text] != nil else { return .failed(.unknownUser) }
                return try await Self.check(attempt)
            }
        )
        #expect(await violations(of: module).contains("the client can distinguish refusals: ann, nobody"))
    }

    @Test func `a module that accepts after a failed conversation is reported`() async {
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                do throws(LoginFault) {
                    return try await Self.check(attempt)
                } catch {
                    return attempt.commit()
                }
            }
        )
        #expect(await violations(of: module).contains { $0.hasSuffix("with a conversation that fails") })
    }

    @Test func `a module that does not return when it is cancelled is reported`() async {
        let forever = RecordingConversation([.held(.silent)])
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                do throws(LoginFault) {
                    return try await Self.check(attempt)
                } catch {
                    if Task.isCancelled { _ = try await forever.answer([]) }
                    throw error
                }
            }
        )
        // All of this time passes, as the module never returns.
        let violations = await violations(of: module, timeLimit: .seconds(3))
        #expect(violations == ["the module does not return when its login is cancelled"])
        forever.release()
    }

    @Test func `a failing logout, missing refused credentials and an invalid user name are reported`() async {
        let module = ScriptedModule(.run(Self.check), logout: .fail(.unavailable("down")))
        #expect(await violations(of: module).contains("the logout of ann fails: unavailable: down"))
        #expect(await violations(of: module, refuses: []).count == 1)
        #expect(await violations(of: module, refuses: [Credential("")]) == ["\"\" is not a valid user name"])
    }
}

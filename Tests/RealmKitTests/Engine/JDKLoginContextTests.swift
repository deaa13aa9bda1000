// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

/// The stacks of the JDK's own test LCTest.
///
/// Module P succeeds in all phases, L fails the login, A fails the abort, and O fails the logout.
struct JDKLoginContextTests {
    enum Module: String, Sendable {
        case P, L, A, O

        var injector: ScriptedModule {
            let fault = LoginFault(.wrongCredentials, log: "\(rawValue)")
            return switch self {
            case .P: ScriptedModule()
            case .L: ScriptedModule(.refuse(.wrongCredentials))
            case .A: ScriptedModule(abort: .fail(fault))
            case .O: ScriptedModule(logout: .fail(fault))
            }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let modules: String
        let flags: [ControlFlag]
        let phase: LoginPhase
        /// The module and phase whose failure is reported; nil for a success.
        let failure: (Int, LoginPhase)?
        /// The number of modules that are called in the phase.
        var calls = 3

        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(
            name: "AbortRequired",
            modules: "PLP",
            flags: [.required, .required, .required],
            phase: .abort,
            failure: (1, .login)
        ),
        // The JDK also aborts modules that it has not reached.
        Row(
            name: "AbortRequisite",
            modules: "LAP",
            flags: [.required, .requisite, .required],
            phase: .abort,
            failure: (0, .login)
        ),
        Row(
            name: "AbortSufficient",
            modules: "LLP",
            flags: [.required, .sufficient, .required],
            phase: .abort,
            failure: (0, .login)
        ),
        Row(
            name: "LogoutRequired",
            modules: "OAP",
            flags: [.required, .required, .required],
            phase: .logout,
            failure: (0, .logout)
        ),
        Row(
            name: "LogoutRequisite",
            modules: "POP",
            flags: [.required, .requisite, .required],
            phase: .logout,
            failure: (1, .logout)
        ),
        Row(
            name: "LogoutSufficient",
            modules: "PLP",
            flags: [.required, .sufficient, .required],
            phase: .logout,
            failure: nil
        ),
        Row(
            name: "LoginRequired",
            modules: "LAP",
            flags: [.required, .required, .required],
            phase: .login,
            failure: (0, .login)
        ),
        Row(
            name: "LoginRequisite",
            modules: "LAP",
            flags: [.required, .requisite, .required],
            phase: .login,
            failure: (0, .login)
        ),
        Row(
            name: "LoginSufficient",
            modules: "PLP",
            flags: [.required, .sufficient, .required],
            phase: .login,
            failure: nil
        ),
        Row(name: "EmptyModuleConfig", modules: "", flags: [], phase: .login, failure: nil, calls: 0),
    ]

    @Test(arguments: rows) func `the stacks of the JDK's own tests have the results that the JDK expects`(
        row: Row
    ) async throws {
        let injectors = row.modules.compactMap { Module(rawValue: String($0))?.injector }
        let entries = zip(injectors, row.flags).map { LoginStack.Entry($0, $1) }
        let context = LoginContext(LoginStack(name: row.name, entries, clock: ManualClock()))
        let login = await context.login(try request(), asking: PreparedConversation.silent)
        var refusal = login.refusal
        if login.identity != nil {
            #expect(context.subject?.users == ["ann"])
            refusal = await context.logout()?.refusal
        }
        let expected = row.failure.map { Refusal.module(index: $0.0, phase: $0.1, failure: .wrongCredentials) }
        #expect(refusal == (row.flags.isEmpty ? .emptyStack : expected))
        #expect(injectors.filter { $0.phases.contains(row.phase) }.count == row.calls)
        if row.failure == nil, !row.flags.isEmpty { #expect(context.subject?.users == []) }
    }
}

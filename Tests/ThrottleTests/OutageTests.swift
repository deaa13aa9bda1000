// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

@testable import Throttle

/// During an outage, the answer to a refused login and its count depend only on whether a secret was presented.
struct OutageTests {
    /// A module that requests a code.
    ///
    /// The tests never present a code.
    private struct CodeCheck: LoginModule {
        init() {}
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
            // Only users who have a code are asked for it.
            if attempt.username.text.hasPrefix("nobody") { return .ignored }
            return try await attempt.oneTimeCode().matches("123456")
                ? attempt.commit(only: []) : .failed(.wrongCredentials)
        }
    }

    private static func password(_ flag: ControlFlag) -> LoginStack.Entry { LoginStack.Entry(PasswordCheck(), flag) }
    private static func code(_ flag: ControlFlag) -> LoginStack.Entry { LoginStack.Entry(CodeCheck(), flag) }
    private static func down(_ flag: ControlFlag) -> LoginStack.Entry {
        LoginStack.Entry(ScriptedModule(.fail(.unavailable("down"))), flag)
    }

    /// A stack, and the expected answer to every refused login.
    struct StackCase: Sendable, CustomTestStringConvertible {
        let name: String
        let entries: [LoginStack.Entry]
        let isUnavailable: Bool
        let milliseconds: Int
        let failures: Int
        /// True if the right password is accepted.
        var accepts = false

        var testDescription: String { name }
    }

    static let stackCases = [
        StackCase(
            name: "a password",
            entries: [password(.required)],
            isUnavailable: false,
            milliseconds: 250,
            failures: 1,
            accepts: true
        ),
        StackCase(
            name: "a password and a code",
            entries: [password(.required), code(.required)],
            isUnavailable: false,
            milliseconds: 250,
            failures: 1
        ),
        StackCase(
            name: "a requisite password and a code",
            entries: [password(.requisite), code(.required)],
            isUnavailable: false,
            milliseconds: 250,
            failures: 1
        ),
        StackCase(
            name: "a code and a password",
            entries: [code(.required), password(.required)],
            isUnavailable: false,
            milliseconds: 250,
            failures: 1
        ),
        StackCase(
            name: "a requisite code and a password",
            entries: [code(.requisite), password(.required)],
            isUnavailable: false,
            milliseconds: 250,
            failures: 1
        ),
        StackCase(
            name: "a required module is down",
            entries: [down(.required)],
            isUnavailable: true,
            milliseconds: 1000,
            failures: 0
        ),
        StackCase(
            name: "the second required module is down",
            entries: [password(.required), down(.required)],
            isUnavailable: true,
            milliseconds: 1000,
            failures: 0
        ),
        StackCase(
            name: "the first required module is down",
            entries: [down(.required), password(.required)],
            isUnavailable: true,
            milliseconds: 1000,
            failures: 0
        ),
        StackCase(
            name: "a requisite first module is down",
            entries: [down(.requisite), password(.required)],
            isUnavailable: true,
            milliseconds: 1000,
            failures: 0
        ),
        StackCase(
            name: "a required module behind a requisite password is down",
            entries: [password(.requisite), down(.required)],
            isUnavailable: false,
            milliseconds: 250,
            failures: 1
        ),
        StackCase(
            name: "a required module behind a sufficient password is down",
            entries: [password(.sufficient), down(.required)],
            isUnavailable: true,
            milliseconds: 1000,
            failures: 1,
            accepts: true
        ),
        StackCase(
            name: "a sufficient first module is down",
            entries: [down(.sufficient), password(.sufficient)],
            isUnavailable: true,
            milliseconds: 1000,
            failures: 1,
            accepts: true
        ),
        StackCase(
            name: "a sufficient second module is down",
            entries: [password(.sufficient), down(.sufficient)],
            isUnavailable: true,
            milliseconds: 1000,
            failures: 1,
            accepts: true
        ),
        StackCase(
            name: "an optional first module is down",
            entries: [down(.optional), password(.required)],
            isUnavailable: false,
            milliseconds: 250,
            failures: 1,
            accepts: true
        ),
        StackCase(
            name: "a password, a code, and a module that is down",
            entries: [password(.required), code(.required), down(.required)],
            isUnavailable: true,
            milliseconds: 1000,
            failures: 0
        ),
        StackCase(
            name: "a password, a module that is down, and a code",
            entries: [password(.requisite), down(.required), code(.required)],
            isUnavailable: false,
            milliseconds: 250,
            failures: 1
        ),
    ]

    @Test(arguments: stackCases)
    func `during an outage the answer and the count do not depend on the user or on the password`(
        stackCase: StackCase
    ) async throws {
        for (name, password) in [
            ("ann", "right"), ("ann", "wrong"), ("nobody", "right"), ("nobody", "wrong"), ("ann", ""),
        ] {
            let fixture = try ThrottleFixture({ $0.delay = .milliseconds(250) }, entries: stackCase.entries)
            let (report, milliseconds) = try await fixture.timed { try await fixture.login(name, password) }
            let isAccepted = report.identity != nil
            #expect(isAccepted == (stackCase.accepts && name == "ann" && password == "right"))
            guard !isAccepted else { continue }
            let login = Comment(rawValue: "\(name) with \(password.debugDescription)")
            #expect(report.isUnavailable == stackCase.isUnavailable, login)
            #expect(milliseconds == stackCase.milliseconds, login)
            #expect(fixture.failures(of: name) == stackCase.failures, login)
            #expect(fixture.failures(from: "192.0.2.7") == stackCase.failures, login)
        }
    }

    @Test(arguments: stackCases)
    func `during an outage a locked account gets the same answer and delay for every password`(
        stackCase: StackCase
    ) async throws {
        var seen: Set<[String]> = []
        for (name, password) in [("ann", "right"), ("ann", "wrong"), ("nobody", "wrong")] {
            let fixture = try ThrottleFixture(
                {
                    $0.delay = .milliseconds(250)
                    $0.failures = 1
                    $0.sourceFailures = 0
                },
                entries: stackCase.entries
            )
            let account = Account(realm: "town", key: name)
            let reservation = await fixture.throttle.reserve([account], by: try Username(name), from: nil)
            let wrong = try ThrottleFixture(entries: [Self.password(.required)])
            let report = try await wrong.login(name, "wrong")
            _ = try await fixture.timed { await reservation.settle([RealmAttempt(account, report: report)]) }
            #expect(fixture.failures(of: name) == nil)
            let (answer, milliseconds) = try await fixture.timed { try await fixture.login(name, password) }
            #expect(answer.identity == nil)
            seen.insert(["\(answer.isUnavailable)", "\(milliseconds)"])
        }
        #expect(seen.count == 1, "\(seen)")
    }

    @Test func `an outage alone locks no account`() async throws {
        for entries in [
            [Self.password(.required), Self.down(.required)], [Self.down(.required), Self.password(.required)],
        ] {
            let fixture = try ThrottleFixture({ $0.failures = 3 }, entries: entries)
            for _ in 0..<20 { #expect(try await fixture.login("ann", "right").isUnavailable) }
            #expect(fixture.throttle.lockouts.isEmpty)
        }
    }

    @Test func `if one sufficient module is unavailable, wrong passwords for the other module lock the account`()
        async throws
    {
        for entries in [
            [Self.password(.sufficient), Self.down(.required)], [Self.down(.sufficient), Self.password(.required)],
        ] {
            for name in ["ann", "nobody"] {
                let fixture = try ThrottleFixture({ $0.failures = 3 }, entries: entries)
                for _ in 0..<3 { _ = try await fixture.login(name, "wrong") }
                #expect(fixture.locks.all == ["\(name)@town as \(name)"])
                #expect(try await fixture.login(name, "right").identity == nil)
            }
        }
    }

    @Test func `a login without a secret is not a failure`() async throws {
        for entries in [[Self.password(.required)], [Self.password(.requisite), Self.code(.required)]] {
            let fixture = try ThrottleFixture({ $0.failures = 1 }, entries: entries)
            for _ in 0..<3 { #expect(try await fixture.answer("ann", nil) == "missing-credential") }
            #expect(fixture.throttle.lockouts.isEmpty)
        }
    }

    @Test(arguments: ["ann", "nobody"])
    func `a login with a password that is cancelled in a module is a failure, for known and unknown users`(
        name: String
    ) async throws {
        for flag in [ControlFlag.required, .sufficient] {
            let slow = ScriptedModule(.hold())
            let fixture = try ThrottleFixture(entries: [Self.password(flag), LoginStack.Entry(slow, .required)])
            let login = Task { try await fixture.login(name, "wrong") }
            await slow.untilCalled()
            login.cancel()
            #expect(try await login.value.identity == nil)
            #expect(fixture.failures(of: name) == 1)
            slow.release()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Synchronization
import TestTools
import Testing

@testable import Throttle

struct WaitingTests {
    /// A fixture whose module waits until the test releases it.
    private struct HoldingFixture {
        let fixture: ThrottleFixture
        let module: ScriptedModule

        init(_ change: (inout ThrottleSettings) -> Void, _ behavior: ScriptedModule.Behavior = .hold()) throws {
            module = ScriptedModule(behavior)
            let entry = LoginStack.Entry(module, .required, deadline: .seconds(100_000))
            fixture = try ThrottleFixture(change, entries: [entry])
        }
    }

    /// A user at a page, who answers a question after the password only when the test lets them.
    private final class UserAtPage: Conversation {
        private let password: String
        private let code: String
        private let latch = Latch()
        private let action = Mutex<(@Sendable () -> Void)?>(nil)
        private let isWaiting = Mutex(false)

        init(_ password: String, code: String) {
            self.password = password
            self.code = code
        }

        var presentsSecret: Bool { true }

        func beforeWaiting(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

        func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
            guard case .oneTimeCode = callbacks.first else { return [.secret(Secret(utf8: password))] }
            let action = action.withLock { $0 }
            action?()
            isWaiting.withLock { $0 = true }
            await latch.pass()
            return [.secret(Secret(utf8: code))]
        }

        func untilAsked() async throws { try await Waiting.until { isWaiting.withLock { $0 } } }

        func send() { latch.open() }
    }

    /// A realm that asks for a password and for a code, whether the password is right or not.
    private struct CodeFixture {
        let fixture: ThrottleFixture

        init(failures: Int, code: ScriptedModule.Behavior? = nil, others: [String: [LoginStack.Entry]] = [:]) throws {
            let check = ScriptedModule.Behavior.run { (attempt) async throws(LoginFault) in
                try await attempt.oneTimeCode().matches("123456") ? attempt.commit() : .failed(.wrongCredentials)
            }
            fixture = try ThrottleFixture(
                { $0.failures = failures },
                entries: [
                    LoginStack.Entry(PasswordCheck(), .required),
                    LoginStack.Entry(ScriptedModule(code ?? check), .required),
                ],
                others: others
            )
        }

        /// Begins a sign-in of `ann`, and returns when it waits for the code.
        func begin(
            _ password: String,
            code: String,
            in realms: [String] = ["town"]
        ) async throws -> (user: UserAtPage, login: Task<MultiRealmLoginReport, any Error>) {
            let user = UserAtPage(password, code: code)
            let ann = try Username("ann")
            let authenticator = fixture.authenticator
            let login: Task<MultiRealmLoginReport, any Error> = Task {
                try await authenticator.login(as: ann, inFirstOf: realms, peer: "192.0.2.7", asking: user)
            }
            try await user.untilAsked()
            return (user, login)
        }
    }

    @Test(arguments: ["wrong", "right"])
    func `sign-ins that are left open at a question are failures, whatever the password is`(
        password: String
    ) async throws {
        let coded = try CodeFixture(failures: 3)
        let strangers = [
            try await coded.begin(password, code: "0"), try await coded.begin(password, code: "0"),
            try await coded.begin(password, code: "0"),
        ]
        #expect(coded.fixture.locks.all == ["ann@town as ann"])
        #expect(coded.fixture.failures(of: "ann") == nil)
        #expect(coded.fixture.throttle.pending == (3, 0))
        // The next attempt is answered at once, and its user cannot sign in until an administrator clears the lock.
        let refused = try await coded.begin("right", code: "123456")
        refused.user.send()
        #expect(try await refused.login.value.reports.last?.refusal == .locked)
        coded.fixture.throttle.clear(.one(.account(Account(realm: "town", key: "ann"))))
        let owner = try await coded.begin("right", code: "123456")
        owner.user.send()
        #expect(try await owner.login.value.identity != nil)
        // The failures were cleared, so they do not count again when the sign-ins end.
        for stranger in strangers {
            stranger.user.send()
            #expect(try await stranger.login.value.identity == nil)
        }
        #expect(coded.fixture.failures(of: "ann") == 0)
        #expect(coded.fixture.failures(from: "192.0.2.7") == 4)
        #expect(coded.fixture.throttle.pending == (0, 0))
    }

    @Test func `a sign-in that has begun before its lock can be completed, and clears the lock`() async throws {
        let coded = try CodeFixture(failures: 2)
        let first = try await coded.begin("right", code: "123456")
        let second = try await coded.begin("wrong", code: "0")
        #expect(coded.fixture.failures(of: "ann") == nil)
        first.user.send()
        #expect(try await first.login.value.identity != nil)
        #expect(coded.fixture.failures(of: "ann") == 0)
        second.user.send()
        #expect(try await second.login.value.identity == nil)
        #expect(coded.fixture.failures(of: "ann") == 0)
    }

    @Test func `an open sign-in counts once, and no longer if it turns out to be no failure`() async throws {
        let coded = try CodeFixture(failures: 2)
        let wrong = try await coded.begin("wrong", code: "0")
        #expect(coded.fixture.failures(of: "ann") == 1)
        wrong.user.send()
        #expect(try await wrong.login.value.identity == nil)
        #expect(coded.fixture.failures(of: "ann") == 1)

        // No user can sign in while the module for the code is down, so nothing counts.
        let down = ScriptedModule.Behavior.run { (attempt) async throws(LoginFault) in
            _ = try await attempt.oneTimeCode()
            throw LoginFault.unavailable("down")
        }
        let broken = try CodeFixture(failures: 1, code: down)
        let unanswered = try await broken.begin("right", code: "123456")
        #expect(broken.fixture.failures(of: "ann") == nil)
        unanswered.user.send()
        #expect(try await unanswered.login.value.identity == nil)
        #expect(broken.fixture.failures(of: "ann") == 0)
        #expect(broken.fixture.failures(from: "192.0.2.7") == 0)
    }

    @Test func `an open sign-in is a failure in all its realms, until one of them accepts`() async throws {
        let city = [LoginStack.Entry(PasswordCheck("other"), .required)]
        let coded = try CodeFixture(failures: 1, others: ["city": city])
        let open = try await coded.begin("other", code: "0", in: ["town", "city"])
        #expect(Set(coded.fixture.locks.all) == ["ann@town as ann", "ann@city as ann"])
        open.user.send()
        #expect(try await open.login.value.identity?.realm == "city")
        for realm in ["town", "city"] { #expect(coded.fixture.failures(of: "ann", in: realm) == 0) }
        #expect(coded.fixture.throttle.pending == (0, 0))
    }

    @Test func `of 1000 parallel guesses, at most as many as the limit can succeed`() async throws {
        let check = PasswordCheck()
        let fixture = try ThrottleFixture(
            {
                $0.failures = 10
                $0.waitingPerAccount = 2000
                $0.sourceFailures = 0
            },
            entries: [LoginStack.Entry(check, .required)]
        )
        let checked = SharedList<Int>()
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let report = try await fixture.login("ann", number == 600 ? "right" : "wrong")
                    if report.refusal != .locked { checked.add(number) }
                    return report.identity != nil
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // If the right guess was accepted, it has cleared the earlier failures.
        let isAccepted = answers.contains(true)
        #expect(checked.all.count <= (isAccepted ? 20 : 10))
        #expect(check.checks.all.count == 1000)
        #expect(fixture.throttle.lockouts.count == 1)
        #expect(fixture.throttle.pending == (0, 0))
    }

    @Test func `of 1000 parallel wrong guesses, those beyond the limit are refused as locked`() async throws {
        let fixture = try ThrottleFixture { $0.failures = 10 }
        let reports = try await withThrowingTaskGroup(of: LoginReport.self) { group in
            for number in 0..<1000 {
                group.addTask { try await fixture.login("ann", "wrong", from: "198.51.100.\(number % 200)") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.count { $0.refusal != .locked } == 10)
        #expect(reports.allSatisfy { $0.identity == nil })
        #expect(fixture.throttle.pending == (0, 0))
    }

    @Test func `50 parallel logins with the right password all succeed`() async throws {
        let held = try HoldingFixture { $0.failures = 10 }
        let logins = (0..<50).map { _ in Task { try await held.fixture.answer("ann", "right") } }
        try await held.fixture.untilWaiting(40)
        #expect(held.module.calls.count <= 10)
        held.module.release()
        for login in logins { #expect(try await login.value == "in") }
        #expect(held.fixture.throttle.pending == (0, 0))
    }

    @Test func `an attempt waits if its source is full`() async throws {
        let held = try HoldingFixture { $0.sourceFailures = 5 }
        let logins = (0..<30).map { number in Task { try await held.fixture.answer("user\(number)", "right") } }
        try await held.fixture.untilWaiting(25)
        #expect(held.fixture.throttle.pending.running == 10)
        held.module.release()
        for login in logins { #expect(try await login.value == "in") }
        #expect(held.fixture.throttle.pending == (0, 0))
    }

    @Test func `an attempt that has waited at its account then waits at its source`() async throws {
        let held = try HoldingFixture {
            $0.failures = 2
            $0.sourceFailures = 3
        }
        var logins: [Task<String, any Error>] = []
        for name in ["ann", "ann", "bob", "ann", "bob", "cid", "ann", "dan", "bob", "ann"] {
            logins.append(Task { try await held.fixture.answer(name, "right") })
        }
        try await held.fixture.untilWaiting(7)
        held.module.release()
        for login in logins { #expect(try await login.value == "in") }
        #expect(held.fixture.throttle.pending == (0, 0))
    }

    @Test func `a running or waiting login that is cancelled releases its reservation`() async throws {
        let held = try HoldingFixture { $0.failures = 1 }
        let first = Task { try await held.fixture.answer("ann", "x") }
        await held.module.untilCalled()
        let second = Task { try await held.fixture.answer("ann", "x") }
        try await held.fixture.untilWaiting(1)
        second.cancel()
        // No module is called for a cancelled attempt that waits.
        #expect(try await second.value == "unavailable")
        #expect(held.module.calls.count == 1)
        first.cancel()
        #expect(try await first.value == "unavailable")
        #expect(held.fixture.throttle.pending == (0, 0))
        held.module.release()
        // The first login had called a module with the password, so it was the one failure that locks.
        #expect(try await held.fixture.answer("ann", "x") == "locked")
    }

    @Test func `a login that is cancelled before its wait begins does not wait`() async throws {
        let held = try HoldingFixture { $0.failures = 1 }
        let first = Task { try await held.fixture.answer("ann", "x") }
        await held.module.untilCalled()
        for _ in 0..<100 {
            let login = Task { try await held.fixture.answer("ann", "x") }
            login.cancel()
            #expect(try await login.value == "unavailable")
        }
        #expect(held.fixture.throttle.pending.waiting == 0)
        held.module.release()
        #expect(try await first.value == "in")
    }

    @Test func `an attempt that waits too long is refused like a wrong password, and locks no account`() async throws {
        let held = try HoldingFixture { $0.failures = 1 }
        let first = Task { try await held.fixture.answer("ann", "x") }
        await held.module.untilCalled()
        let second = Task { try await held.fixture.answer("ann", "x") }
        try await held.fixture.untilWaiting(1)
        try await Waiting.until {
            held.fixture.clock.advance(by: .seconds(30))
            return held.fixture.throttle.pending.waiting == 0
        }
        await held.module.untilCalled(2)
        held.module.release()
        #expect(try await second.value == "locked")
        #expect(try await first.value == "in")
        #expect(held.fixture.throttle.lockouts.isEmpty)
        #expect(try await held.fixture.answer("ann", "x") == "in")
    }

    @Test func `if too many attempts wait, further attempts are refused at once`() async throws {
        let held = try HoldingFixture {
            $0.failures = 1
            $0.waitingPerAccount = 2
            $0.waiting = 3
        }
        var logins: [Task<String, any Error>] = []
        for name in ["ann", "bob"] { logins.append(Task { try await held.fixture.answer(name, "x") }) }
        await held.module.untilCalled(2)
        for _ in 0..<2 { logins.append(Task { try await held.fixture.answer("ann", "x") }) }
        try await held.fixture.untilWaiting(2)
        let third = Task { try await held.fixture.answer("ann", "x") }
        await held.module.untilCalled(3)
        logins.append(Task { try await held.fixture.answer("bob", "x") })
        try await held.fixture.untilWaiting(3)
        let fourth = Task { try await held.fixture.answer("bob", "x") }
        await held.module.untilCalled(4)
        held.module.release()
        #expect(try await third.value == "locked")
        #expect(try await fourth.value == "locked")
        for login in logins { #expect(try await login.value == "in") }
        #expect(held.fixture.throttle.lockouts.isEmpty)
    }

    @Test func `a reservation that is never settled is released when it is deinitialized`() async throws {
        let fixture = try ThrottleFixture { $0.failures = 1 }
        let account = Account(realm: "town", key: "ann")
        let username = try Username("ann")
        for _ in 0..<3 {
            let reservation = await fixture.throttle.reserve([account], by: username, from: "192.0.2.7")
            #expect(reservation.mayGrant(account))
            #expect(!reservation.mayGrant(Account(realm: "city", key: "ann")))
            #expect(fixture.throttle.pending.running == 2)
        }
        #expect(fixture.throttle.pending == (0, 0))
    }
}

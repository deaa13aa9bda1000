// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

@testable import Throttle

/// Logins in two realms: `town`, which accepts the password `right`, and `city`, which accepts `other`.
struct SeveralRealmsTests {
    private static let both = ["town", "city"]

    private func fixture(
        _ change: (inout ThrottleSettings) -> Void = { _ in },
        city: LoginStack.Entry = LoginStack.Entry(PasswordCheck("other"), .required)
    ) throws -> ThrottleFixture {
        try ThrottleFixture(
            {
                $0.delay = .milliseconds(250)
                change(&$0)
            },
            others: ["city": [city]]
        )
    }

    /// Logs in, and returns the realm that accepts and the delay of the answer.
    private func login(
        _ fixture: ThrottleFixture,
        _ name: String,
        _ password: String,
        in realms: [String] = both
    ) async throws -> (realm: String?, milliseconds: Int) {
        let (report, time) = try await fixture.timed { try await fixture.login(name, password, in: realms) }
        return (report.identity?.realm, time)
    }

    @Test(arguments: ["ann", "nobody"])
    func `a login that the second realm accepts is no failure and is not delayed`(name: String) async throws {
        let fixture = try ThrottleFixture(
            {
                $0.failures = 3
                $0.sourceFailures = 5
                $0.delay = .milliseconds(250)
            },
            entries: [LoginStack.Entry(PasswordCheck(), .required)],
            others: ["city": [LoginStack.Entry(ScriptedModule(.run(Self.acceptOther)), .required)]]
        )
        for _ in 0..<50 {
            let (realm, milliseconds) = try await login(fixture, name, "other")
            #expect(realm == "city" && milliseconds == 0)
        }
        #expect(fixture.failures(of: name) == 0)
        #expect(fixture.failures(of: name, in: "city") == 0)
        #expect(fixture.failures(from: "192.0.2.7") == 0)
        #expect(fixture.throttle.pending == (0, 0))
    }

    /// Accepts the password `other` of every user.
    @Sendable private static func acceptOther(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        try await attempt.password().matches("other") ? attempt.commit() : .failed(.wrongCredentials)
    }

    @Test func `a login that all realms refuse is one failure of each account and of the source`() async throws {
        let fixture = try fixture()
        #expect(try await login(fixture, "ann", "wrong").milliseconds == 250)
        #expect(fixture.failures(of: "ann") == 1)
        #expect(fixture.failures(of: "ann", in: "city") == 1)
        #expect(fixture.failures(from: "192.0.2.7") == 1)
        // The delay is computed from the account with the most failures.
        for _ in 0..<2 { _ = try await login(fixture, "ann", "wrong", in: ["city"]) }
        #expect(try await login(fixture, "ann", "wrong").milliseconds == 2000)
        #expect(fixture.failures(of: "ann") == 2)
        #expect(fixture.failures(of: "ann", in: "city") == 4)
        #expect(fixture.failures(from: "192.0.2.7") == 4)
    }

    @Test func `known and unknown users have the same counts and delays`() async throws {
        for (realms, count) in [(Self.both, 1), (["city", "town"], 1), (["town", "town"], 1)] {
            var seen: [[Int?]] = []
            for name in ["ann", "nobody"] {
                let fixture = try fixture()
                let milliseconds = try await login(fixture, name, "wrong", in: realms).milliseconds
                seen.append([milliseconds, fixture.failures(of: name), fixture.failures(from: "192.0.2.7")])
            }
            #expect(seen == [[250, count, 1], [250, count, 1]])
        }
    }

    @Test func `a success clears only the account in the realm that has accepted`() async throws {
        let fixture = try fixture()
        _ = try await login(fixture, "ann", "wrong")
        #expect(try await login(fixture, "ann", "other").realm == "city")
        #expect(fixture.failures(of: "ann", in: "city") == 0)
        #expect(fixture.failures(of: "ann") == 1)
        #expect(fixture.failures(from: "192.0.2.7") == 1)
        #expect(try await login(fixture, "ann", "right").realm == "town")
        #expect(fixture.failures(of: "ann") == 0)
    }

    @Test func `a locked account blocks logins in its own realm only`() async throws {
        let fixture = try fixture { $0.failures = 2 }
        for _ in 0..<2 { _ = try await login(fixture, "ann", "wrong", in: ["town"]) }
        #expect(fixture.failures(of: "ann") == nil)
        #expect(try await login(fixture, "ann", "right").realm == nil)
        let (realm, milliseconds) = try await login(fixture, "ann", "other")
        #expect(realm == "city" && milliseconds == 0)
        // The right password of the locked account is wrong in the other realm.
        #expect(try await login(fixture, "ann", "right").realm == nil)
        #expect(fixture.failures(of: "ann", in: "city") == 1)
        #expect(fixture.locks.all == ["ann@town as ann"])
    }

    @Test func `a locked source blocks all realms`() async throws {
        let fixture = try fixture { $0.sourceFailures = 2 }
        for name in ["bob", "cid"] { _ = try await login(fixture, name, "wrong") }
        #expect(fixture.failures(from: "192.0.2.7") == nil)
        for password in ["right", "other"] { #expect(try await login(fixture, "ann", password).realm == nil) }
        #expect(fixture.failures(of: "ann") == 0 && fixture.failures(of: "ann", in: "city") == 0)
    }

    @Test func `guesses at two realms lock both accounts at the limit, in any order of realms`() async throws {
        let fixture = try fixture { $0.failures = 4 }
        for realms in [Self.both, ["city", "town"], Self.both, ["town"]] {
            _ = try await login(fixture, "ann", "wrong", in: realms)
        }
        #expect(fixture.failures(of: "ann") == nil)
        #expect(fixture.failures(of: "ann", in: "city") == 3)
        #expect(try await login(fixture, "ann", "right", in: ["town"]).realm == nil)
    }

    /// A module that accepts any password, as if the user changed it before each login.
    private struct AcceptAnyPassword: LoginModule {
        init() {}
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
            _ = try await attempt.password()
            return attempt.commit()
        }
    }

    @Test func `guesses at the first realm count even if the second realm accepts them`() async throws {
        let fixture = try fixture({ $0.failures = 10 }, city: LoginStack.Entry(AcceptAnyPassword(), .required))
        for number in 0..<11 {
            let (realm, milliseconds) = try await login(fixture, "ann", "guess\(number)")
            // The second realm still accepts the login.
            #expect(realm == "city" && milliseconds == 0)
        }
        #expect(fixture.failures(of: "ann") == nil)
        #expect(try await login(fixture, "ann", "right", in: ["town"]).realm == nil)
        // The account in the first realm is now locked, so the first realm refuses every password.
        #expect(try await login(fixture, "ann", "right").realm == "city")
        // The guess at the locked account alone counts for its address.
        #expect(fixture.failures(from: "192.0.2.7") == 1)
    }

    @Test func `repeated passwords that the second realm accepts count few failures at the first realm`() async throws {
        let fixture = try fixture({ $0.failures = 10 }, city: LoginStack.Entry(AcceptAnyPassword(), .required))
        for password in ["old", "old", "new", "new", "old", "new", "old"] {
            #expect(try await login(fixture, "ann", password).realm == "city")
        }
        #expect(fixture.failures(of: "ann") == 1)
        fixture.throttle.clear(.all)
        #expect(try await login(fixture, "ann", "third").realm == "city")
        #expect(fixture.failures(of: "ann") == 0)
    }

    @Test func `an attempt that waits at one realm has no reservation at the other realm`() async throws {
        let slow = ScriptedModule(.hold())
        let fixture = try ThrottleFixture(
            { $0.failures = 1 },
            entries: [LoginStack.Entry(slow, .required, deadline: .seconds(100_000))],
            others: ["city": [LoginStack.Entry(PasswordCheck("other"), .required)]]
        )
        let first = Task { try await fixture.login("ann", "x", in: ["town"]) }
        await slow.untilCalled()
        let second = Task { try await fixture.login("ann", "other", in: Self.both) }
        try await fixture.untilWaiting(1)
        // The account in the second realm has room for an attempt.
        #expect(try await fixture.login("ann", "other", in: ["city"]).identity?.realm == "city")
        slow.release()
        #expect(try await first.value.identity?.realm == "town")
        #expect(try await second.value.identity?.realm == "town")
        #expect(fixture.throttle.pending == (0, 0))
    }

    @Test func `attempts with realms in opposite orders do not deadlock`() async throws {
        let fixture = try fixture {
            $0.failures = 1
            $0.waitingPerAccount = 1000
            $0.delay = .zero
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let realms = number % 2 == 0 ? Self.both : Self.both.reversed()
                    let report = try await fixture.login("ann", "other", in: realms)
                    #expect(report.identity?.realm == "city")
                }
            }
            try await group.waitForAll()
        }
        #expect(fixture.throttle.pending == (0, 0))
        #expect(fixture.throttle.lockouts.isEmpty)
    }

    @Test func `a failure is counted in a realm that refused, but not in an unavailable realm`() async throws {
        let down = ScriptedModule(.fail(.unavailable("down")))
        let fixture = try fixture(city: LoginStack.Entry(down, .required))
        for name in ["ann", "nobody"] {
            let (report, milliseconds) = try await fixture.timed {
                try await fixture.login(name, "wrong", in: Self.both)
            }
            guard case .unavailable(let unavailable) = report.outcome else {
                Issue.record("the outcome is \(report.outcome)")
                return
            }
            #expect(unavailable?.realm == "city")
            #expect(milliseconds == 1000)
            #expect(fixture.failures(of: name) == 1)
            #expect(fixture.failures(of: name, in: "city") == 0)
        }
        #expect(fixture.failures(from: "192.0.2.7") == 2)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmConfiguration
import RealmKit
import RealmTesting
import Synchronization
import TestTools
import Testing
import Throttle

@testable import AccessControl
@testable import SignIn

/// Accepts only the user ann.
///
/// The password is `other` in the realm `city`, and `right` in all other realms.
private struct TownModule: LoginModule {
    private let password: String

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        password = options.realmName == "city" ? "other" : "right"
    }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        let given = try await attempt.password()
        guard attempt.username.text == "ann" else { return .failed(.unknownUser) }
        return given.text == password ? attempt.commit() : .failed(.wrongCredentials)
    }
}

private struct TownRealm: Realm {
    static let properties: PropertySchema = [.jaasContext(default: "town")]
    let jaasContext: String
    var authType: String { "Town" }

    init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
}

/// Tests of failed logins: the bytes and the delay of each response, and whether the login counts as a failure.
@Suite struct FailedLoginTests {
    private static let configuration = """
        default-realm town;
        login town   { TownModule required; }
        login code   { TownModule required; ScriptedLoginModule required code="123456"; }
        login strict { TownModule requisite; ScriptedLoginModule required code="123456"; }
        login half   { TownModule required; ScriptedLoginModule required login="unavailable"; }
        login late   { ScriptedLoginModule required login="unavailable"; TownModule required; }
        login hidden { TownModule requisite; ScriptedLoginModule required login="unavailable"; }
        login either { TownModule sufficient; ScriptedLoginModule required login="unavailable"; }
        login down   { ScriptedLoginModule required login="unavailable"; }
        realm town   { class TownRealm; }
        realm city   { class TownRealm; }
        realm code   { class TownRealm; jaas-context code; }
        realm strict { class TownRealm; jaas-context strict; }
        realm half   { class TownRealm; jaas-context half; }
        realm late   { class TownRealm; jaas-context late; }
        realm hidden { class TownRealm; jaas-context hidden; }
        realm either { class TownRealm; jaas-context either; }
        realm down   { class TownRealm; jaas-context down; }
        server { listen 127.0.0.1:0; sign-in { time 10m; } }
        protect /town   { realm town;      auth basic; require any; }
        protect /code   { realm code;      auth basic; require any; }
        protect /strict { realm strict;    auth basic; require any; }
        protect /half   { realm half;      auth basic; require any; }
        protect /late   { realm late;      auth basic; require any; }
        protect /hidden { realm hidden;    auth basic; require any; }
        protect /either { realm either;    auth basic; require any; }
        protect /both   { realm town city; auth basic form; require any; }
        protect /partly { realm town down; auth basic; require any; }
        protect /form/half { realm half;   auth form; require any; }
        """

    /// A server with a throttle whose clock advances only while a task sleeps.
    private final class ThrottledServer: Sendable {
        let clock = ManualClock(now: 1_000_000_000_000)
        let throttle: FailureThrottle
        let server: TestServer

        init(failures: Int = 10) throws {
            var settings = ThrottleSettings()
            settings.failures = failures
            throttle = FailureThrottle(settings, clock: clock, wall: { 0 }, jitter: { 0 })
            server = try TestServer(
                FailedLoginTests.configuration,
                throttle: throttle,
                kinds: [RealmKind(TownRealm.self, modules: TownModule.self)]
            )
        }

        /// Returns the result of `body`, and the time until it returned in milliseconds.
        func timed<Value: Sendable>(
            _ body: @escaping @Sendable () async throws -> Value
        ) async throws -> (value: Value, milliseconds: Int) {
            let begin = clock.now
            let end = Mutex<UInt64?>(nil)
            let task = Task { [clock] in
                defer { end.withLock { $0 = clock.now } }
                return try await body()
            }
            try await Waiting.until {
                if clock.sleeperCount > 0 { clock.advance(by: .milliseconds(10)) }
                return end.withLock { $0 } != nil
            }
            return (try await task.value, Int(((end.withLock { $0 } ?? begin) - begin) / 1_000_000))
        }

        /// Sends Basic credentials, and returns the bytes and the delay of the answer.
        func basic(
            _ path: String,
            _ name: String,
            _ password: String
        ) async throws -> (bytes: String, milliseconds: Int) {
            let token = Data("\(name):\(password)".utf8).base64EncodedString()
            let (bytes, milliseconds) = try await timed { [server] in
                try await server.bytes(
                    "GET \(path) HTTP/1.1\r\nHost: house.example\r\nAuthorization: Basic \(token)\r\n\r\n",
                    from: "192.0.2.7"
                )
            }
            return (bytes, milliseconds)
        }
    }

    /// The observations of a client that sends two guesses.
    private struct Observation: Hashable {
        let bytes: String
        let milliseconds: Int
        /// The delay of the second guess, which shows whether the first guess was counted.
        let next: Int
    }

    private func observe(_ path: String, _ name: String, _ password: String) async throws -> Observation {
        let throttled = try ThrottledServer()
        let (bytes, milliseconds) = try await throttled.basic(path, name, password)
        // The delay of a second wrong guess shows whether the first guess was counted.
        let next = try await throttled.basic(path, name, "wrong too").milliseconds
        return Observation(bytes: bytes, milliseconds: milliseconds, next: next)
    }

    @Test(arguments: [
        ("/town", 401, 250, 500), ("/code", 401, 250, 500), ("/strict", 401, 250, 500), ("/half", 503, 1000, 1000),
        ("/late", 503, 1000, 1000), ("/hidden", 401, 250, 500), ("/either", 503, 1000, 1000), ("/both", 401, 250, 500),
        ("/partly", 503, 1000, 1000),
    ])
    func `rejected Basic logins get the same bytes and delay and count equally, even if name or password is right`(
        path: String,
        status: Int,
        milliseconds: Int,
        next: Int
    ) async throws {
        var seen: Set<Observation> = []
        for (name, password) in [("ann", "right"), ("ann", "wrong"), ("bob", "right"), ("bob", "wrong"), ("ann", "")] {
            let guess = try await observe(path, name, password)
            if try [200, 404].contains(ParsedResponse(guess.bytes).status) { continue }
            seen.insert(guess)
        }
        #expect(seen.count == 1)
        let guess = try #require(seen.first)
        #expect(try ParsedResponse(guess.bytes).status == status)
        #expect(guess.milliseconds == milliseconds)
        #expect(guess.next == next)
    }

    @Test func `the right password without the code locks the account like a wrong password`() async throws {
        for password in ["right", "wrong"] {
            let throttled = try ThrottledServer(failures: 3)
            for _ in 0..<3 { _ = try await throttled.basic("/code", "ann", password) }
            #expect(throttled.throttle.lockouts.map { "\($0.key)" } == ["ann@code"])
        }
    }

    @Test func `the log contains the unavailable module and the reason for the rejection`() async throws {
        let throttled = try ThrottledServer()
        _ = try await throttled.basic("/half", "ann", "wrong")
        #expect(throttled.server.log.text.contains("503"))
        #expect(throttled.server.log.text.contains(" wrong-credentials module=0 phase=login unavailable module=1"))
    }

    @Test func `no account is locked while a required module is unavailable`() async throws {
        for (name, password) in [("ann", "right"), ("ann", "wrong"), ("bob", "wrong")] {
            let throttled = try ThrottledServer(failures: 3)
            for _ in 0..<5 { _ = try await throttled.basic("/half", name, password) }
            #expect(throttled.throttle.lockouts.isEmpty)
        }
    }

    @Test func `accounts are locked even while a module after a sufficient module is unavailable`() async throws {
        for (name, password) in [("ann", "wrong"), ("bob", "wrong")] {
            let throttled = try ThrottledServer(failures: 3)
            for _ in 0..<3 { _ = try await throttled.basic("/either", name, password) }
            #expect(throttled.throttle.lockouts.map { "\($0.key)" } == ["\(name)@either"])
        }
    }

    @Test func `50 logins that the second of two realms accepts are not delayed and lock no account`() async throws {
        let throttled = try ThrottledServer(failures: 3)
        for _ in 0..<50 {
            let (outcome, milliseconds) = try await throttled.timed { [server = throttled.server] in
                let ann = try Username("ann")
                return await server.configuration.authenticator.throttled(by: throttled.throttle).outcome(
                    as: ann,
                    inFirstOf: ["town", "city"],
                    whenUnavailable: .continue,
                    address: "192.0.2.7",
                    asking: PreparedConversation(name: "ann", password: Secret(utf8: "other"))
                )
            }
            guard case .accepted(let identity, _) = outcome else {
                Issue.record("the sign-in was refused")
                return
            }
            #expect(identity.realm == "city" && milliseconds == 0)
        }
        #expect(throttled.throttle.lockouts.isEmpty)
        // The delay of the next wrong guess is the delay of a first failure, so no earlier failure was counted.
        #expect(try await throttled.basic("/both", "ann", "wrong").milliseconds == 250)
    }

    @Test func `during an outage the session API gives the same answer with the same delay to every user`() async throws
    {
        var seen: Set<String> = []
        for (name, password) in [("ann", "right"), ("ann", "wrong"), ("bob", "wrong")] {
            let throttled = try ThrottledServer()
            let (answer, milliseconds) = try await throttled.timed { [server = throttled.server] in
                try await TestClient(server).fetch(
                    "POST",
                    "/session",
                    json: "{\"username\":\"\(name)\",\"password\":\"\(password)\",\"realm\":\"half\"}"
                )
            }
            seen.insert("\(answer.status) \(answer.body) \(milliseconds)")
        }
        #expect(seen == ["503 {\"error\":\"unavailable\"}\n 1000"])
    }
}

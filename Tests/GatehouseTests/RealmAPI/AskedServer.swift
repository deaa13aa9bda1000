// SPDX-License-Identifier: Apache-2.0

import RealmConfiguration
import RealmKit
import RealmTesting
import Synchronization
import TestTools
import Testing
import Throttle

@testable import SignIn

/// Accepts ann with the password `right`, and refuses the users `locked`, `disabled` and `expired` for these reasons.
struct PeopleModule: LoginModule {
    private let attributes: [UserAttribute]

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        do throws(BadAttribute) {
            attributes = [try UserAttribute(name: "displayName", values: ["Ann <b>", "Ännchen"])]
        } catch {
            attributes = []
        }
    }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        let given = try await attempt.password()
        switch attempt.username.text {
        case "ann":
            guard given.text == "right" else { return .failed(.wrongCredentials) }
            return attempt.commit(groups: ["Staff"], attributes: attributes)
        case "locked": return .failed(.locked)
        case "disabled": return .failed(.disabled)
        case "expired": return .failed(.accountExpired)
        default: return .failed(.unknownUser)
        }
    }
}

struct PeopleRealm: Realm {
    static let properties: PropertySchema = [.jaasContext(default: "people")]
    let jaasContext: String
    var authType: String { "People" }

    init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
}

/// A server with a realm API and a throttle, whose clock advances only while a task sleeps.
final class AskedServer: Sendable {
    static let token = "7c0f1f1ea8b5d3c5a1e29d6b54d2f0a9"
    static let otherToken = "AbCdEfGhIjKlMnOpQrStUvWxYz012345"
    static let detailsToken = "0f9a2d45b6d92e1a5c3d5b8ae1f1f0c7"

    static let configuration = """
        default-realm people;
        login people { PeopleModule required; }
        login code   { PeopleModule required; ScriptedLoginModule required code="123456"; }
        login down   { ScriptedLoginModule required login="unavailable"; }
        login busy   { ScriptedLoginModule required login="overloaded"; }
        login hidden { PeopleModule requisite; ScriptedLoginModule required login="unavailable"; }
        realm people { class PeopleRealm; assign-groups Everyone; }
        realm code   { class PeopleRealm; jaas-context code; }
        realm down   { class PeopleRealm; jaas-context down; }
        realm busy   { class PeopleRealm; jaas-context busy; }
        realm hidden { class PeopleRealm; jaas-context hidden; }
        realm "a b" { class PeopleRealm; }
        server {
            listen 127.0.0.1:0;
            trusted-proxies 192.0.2.200;
            realm-api {
                client mail    { realm people code down busy hidden "a b"; token \(token); }
                client inner   { realm people; token \(otherToken); networks 10.0.0.0/8; may-name-address on; }
                client details { realm people code hidden; token \(detailsToken); show-reasons on; }
            }
        }
        protect / { auth basic; require any; }
        """

    let clock = ManualClock(now: 1_000_000_000_000)
    let throttle: FailureThrottle
    let server: TestServer

    init(_ text: String = AskedServer.configuration, change: (inout ThrottleSettings) -> Void = { _ in }) throws {
        var settings = ThrottleSettings()
        change(&settings)
        throttle = FailureThrottle(settings, clock: clock, wall: { 0 }, jitter: { 0 })
        server = try TestServer(
            text,
            throttle: throttle,
            kinds: [RealmKind(PeopleRealm.self, modules: PeopleModule.self)]
        )
    }

    /// Sends a request; the clock advances while the server sleeps.
    func send(
        _ method: String,
        _ path: String,
        token: String? = AskedServer.token,
        type: String? = "application/json",
        body: String? = nil,
        from peer: String = "192.0.2.7",
        fields: [String] = []
    ) async throws -> (bytes: String, response: ParsedResponse, milliseconds: Int) {
        var request = "\(method) \(path) HTTP/1.1\r\nHost: house.example\r\n"
        if let token { request += "Authorization: Bearer \(token)\r\n" }
        for field in fields { request += "\(field)\r\n" }
        if let body {
            if let type { request += "Content-Type: \(type)\r\n" }
            request += "Content-Length: \(body.utf8.count)\r\n"
        }
        request += "\r\n\(body ?? "")"
        let begin = clock.now
        let end = Mutex<UInt64?>(nil)
        let task = Task { [clock, server, request] in
            defer { end.withLock { $0 = clock.now } }
            return try await server.bytes(request, from: peer)
        }
        try await Waiting.until {
            if clock.sleeperCount > 0 { clock.advance(by: .milliseconds(10)) }
            return end.withLock { $0 } != nil
        }
        let bytes = try await task.value
        let milliseconds = Int(((end.withLock { $0 } ?? begin) - begin) / 1_000_000)
        return (bytes, try ParsedResponse(bytes), milliseconds)
    }

    /// Checks credentials.
    func check(
        _ name: String,
        _ password: String,
        in realm: String = "people",
        token: String? = AskedServer.token,
        from peer: String = "192.0.2.7",
        more: String = ""
    ) async throws -> (bytes: String, response: ParsedResponse, milliseconds: Int) {
        let body = "{\"username\":\"\(name)\",\"password\":\"\(password)\"\(more)}"
        return try await send("POST", "/realms/\(realm)/check", token: token, body: body, from: peer)
    }
}

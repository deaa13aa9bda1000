// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import Synchronization
import Testing

@testable import AccessControl
@testable import SignIn

/// A realm that counts the logins that it is asked to decide.
private struct CountingRealm: Realm {
    static let properties: PropertySchema = [.jaasContext(default: "counting"), .string("key", default: "")]
    static let logins = Mutex<[String: Int]>([:])
    let jaasContext: String
    let key: String
    var authType: String { "Counting" }

    init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        key = try properties.string("key")
    }
}

private struct CountingModule: LoginModule {
    let key: String

    init(realm: CountingRealm, options: ModuleOptions) throws(BadModule) { key = realm.key }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        _ = try await attempt.password()
        CountingRealm.logins.withLock { $0[key, default: 0] += 1 }
        return attempt.commit()
    }
}

/// Rules and sign-ins with several realms, of which the first is unavailable.
@Suite struct WhenUnavailableTests {
    private static let configuration = """
        login down     { ScriptedLoginModule required login="unavailable"; }
        login broken   { ScriptedLoginModule required login="throw:internal-error"; }
        login partly   { ScriptedLoginModule sufficient login="unavailable"; DenyLoginModule required; }
        login late     { PermitLoginModule required; ScriptedLoginModule required commit="throw:unavailable"; }
        login closed   { DenyLoginModule required; }
        login counting { CountingModule required; }
        login aggregateRealm { AggregateLoginModule required; }
        realm down     { class StackRealm; jaas-context down; }
        realm broken   { class StackRealm; jaas-context broken; }
        realm partly   { class StackRealm; jaas-context partly; }
        realm late     { class StackRealm; jaas-context late; }
        realm closed   { class StackRealm; jaas-context closed; }
        realm people   { class AggregateRealm; authentication partly; }
        realm second   { class CountingRealm; key KEY; }
        server { listen 127.0.0.1:0; sign-in { realm down second; when-unavailable stop; } }
        protect /stop     { realm down second;   when-unavailable stop;     auth basic form; require any; }
        protect /continue { realm down second;   when-unavailable continue; auth basic form; require any; }
        protect /default  { realm down second;   auth basic; require any; }
        protect /broken   { realm broken second; when-unavailable stop; auth basic; require any; }
        protect /partly   { realm partly second; when-unavailable stop; auth basic; require any; }
        protect /late     { realm late second;   when-unavailable stop; auth basic; require any; }
        protect /people   { realm people second; when-unavailable stop; auth basic; require any; }
        protect /closed   { realm closed second; when-unavailable stop; auth basic; require any; }
        protect /between  { realm closed down second; when-unavailable stop; auth basic; require any; }
        """

    private let server: TestServer
    private let client: TestClient
    private let key = "counting\(UInt64.random(in: 0...UInt64.max))"

    init() throws {
        server = try TestServer(
            Self.configuration.replacing("KEY", with: key),
            kinds: [RealmKind(CountingRealm.self, modules: CountingModule.self)]
        )
        client = TestClient(server)
    }

    /// The number of logins that the second realm was asked to decide.
    private var logins: Int { CountingRealm.logins.withLock { $0[key] ?? 0 } }

    private func basic(_ path: String) async throws -> Int {
        let token = Data("ann:x".utf8).base64EncodedString()
        return try await client.send("GET", path, ["Authorization: Basic \(token)"]).status
    }

    @Test func `stop answers 503 and does not ask the second realm`() async throws {
        for path in ["/stop", "/between"] { #expect(try await basic(path) == 503) }
        #expect(logins == 0)
    }

    @Test func `continue asks the second realm, and is the default`() async throws {
        #expect(try await basic("/continue") == 200)
        #expect(logins == 1)
        #expect(try await basic("/default") == 200)
    }

    @Test func `a user whom the second realm has accepted is not taken from the cache where a rule stops`() async throws
    {
        #expect(try await basic("/continue") == 200)
        #expect(try await basic("/stop") == 503)
        #expect(try await basic("/continue") == 200)
        #expect(logins == 1, "the rule that continues uses its cached credentials")
    }

    @Test func `a realm that refuses the user is no outage, so the second realm is asked`() async throws {
        #expect(try await basic("/closed") == 200)
        #expect(logins == 1)
    }

    /// The answer is that of the first realm alone, so it tells no more about the credentials than one realm does.
    @Test(arguments: [("/broken", 401), ("/partly", 401), ("/late", 503), ("/people", 401)])
    func `stop ends at every outage of a module, and answers as the first realm alone`(
        path: String,
        status: Int
    ) async throws {
        #expect(try await basic(path) == status)
        #expect(logins == 0)
    }

    @Test func `a sign-in on the page stops or continues as the rule of its target`() async throws {
        let stopped = try await client.follow(try await client.signIn("ann", at: "/sign-in?return=/stop"))
        #expect(stopped.body.contains("cannot be signed in at the moment"))
        #expect(client[TestClient.session] == nil && logins == 0)
        #expect(try await client.signIn("ann", at: "/sign-in?return=/continue").location == "/continue")
        #expect(client[TestClient.session] != nil && logins == 1)
    }

    @Test func `a sign-in without a target stops or continues as the sign-in block says`() async throws {
        let stopped = try await client.follow(try await client.signIn("ann"))
        #expect(stopped.body.contains("cannot be signed in at the moment"))
        let credentials = "\"username\":\"ann\",\"password\":\"x\""
        #expect(try await client.fetch("POST", "/session", json: "{\(credentials)}").status == 503)
        #expect(logins == 0)
        // A client that names the realm asks only this realm.
        let named = try await client.fetch("POST", "/session", json: "{\(credentials),\"realm\":\"second\"}")
        #expect(named.status == 201)
    }
}

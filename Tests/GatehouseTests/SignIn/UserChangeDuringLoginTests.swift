// SPDX-License-Identifier: Apache-2.0

import AccessControl
import RealmKit
import RealmTesting
import Sessions
import Synchronization
import Testing

@testable import SignIn

/// A realm whose users a test changes directly.
private final class HamletRealm: RefreshingRealm {
    static let properties: PropertySchema = [.jaasContext(default: "hamlet"), .string("key", default: "")]
    /// The users that have changed, by the realm's key.
    static let changes = Mutex<[String: Set<Username>]>([:])

    let jaasContext: String
    var authType: String { "Hamlet" }
    private let key: String

    init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        key = try properties.string("key")
    }

    func refresh() async -> ChangedUsers {
        let names = Self.changes.withLock { $0.removeValue(forKey: key) ?? [] }
        return .some(names)
    }
}

private struct HamletModule: LoginModule {
    init(realm: HamletRealm, options: ModuleOptions) throws(BadModule) {}

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        _ = try await attempt.password()
        return attempt.commit()
    }
}

/// Tests of logins whose user is changed before the session begins.
@Suite struct UserChangeDuringLoginTests {
    private static let configuration = """
        default-realm hamlet;
        login hamlet { HamletModule required; ScriptedLoginModule required code="123456"; }
        realm hamlet { class HamletRealm; jaas-context hamlet; key KEY; }
        server { listen 127.0.0.1:0; }
        protect / { auth form; require any; }
        """

    private let server: TestServer
    private let client: TestClient
    private let key = "hamlet\(UInt64.random(in: 0...UInt64.max))"

    init() throws {
        server = try TestServer(
            Self.configuration.replacing("KEY", with: key),
            clock: ManualClock(now: 1_000_000_000_000),
            kinds: [RealmKind(HamletRealm.self, modules: HamletModule.self)]
        )
        client = TestClient(server)
    }

    /// Sends the password, runs `change`, and sends the code.
    ///
    /// - Returns: The status of the answer to the code.
    private func signIn(_ name: String, meanwhile change: () throws -> Void) async throws -> Int {
        let begun = try await client.fetch(
            "POST",
            "/session",
            json: "{\"username\":\"\(name)\",\"password\":\"x\"}"
        )
        let number = try #require(begun.json("number"))
        try change()
        return try await client.fetch(
            "POST",
            "/session",
            json: "{\"number\":\(number),\"answers\":[\"123456\"]}"
        ).status
    }

    /// The refresher checks the realm every second.
    ///
    /// If the session began, a reload or a stop before the next check would lose the change.
    @Test func `no session begins if the user is changed during the login, even before the next refresh`() async throws
    {
        #expect(try await signIn("ann") {} == 201)
        let refused = try await signIn("ann") {
            HamletRealm.changes.withLock { [key, ann = try Username("ann")] in $0[key] = [ann] }
        }
        #expect(refused == 401)
        #expect(server.sessions.count == 0, "the earlier session is over")
        // A change before the login, and a change of another user, have no effect.
        HamletRealm.changes.withLock { [key, ann = try Username("ann")] in $0[key] = [ann] }
        #expect(try await signIn("ann") {} == 201)
        let other = try await signIn("ann") {
            HamletRealm.changes.withLock { [key, bob = try Username("bob")] in $0[key] = [bob] }
        }
        #expect(other == 201)
    }

    @Test func `refreshes run one at a time, and each call waits for a refresh that begins later`() async throws {
        for _ in 0..<100 {
            HamletRealm.changes.withLock { [key, ann = try Username("ann")] in $0[key] = [ann] }
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 { group.addTask { await server.service.refresher.refresh("hamlet") } }
                for await isDone in group { #expect(isDone) }
            }
            #expect(HamletRealm.changes.withLock { $0[key] } == nil)
        }
        #expect(await server.service.refresher.refresh("nowhere"))
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmConfiguration
import RealmKit
import RealmTesting
import Sessions
import Synchronization
import Testing

@testable import AccessControl
@testable import SignIn

/// A realm whose users a test changes; each instance has a key.
private final class MeadowRealm: RefreshingRealm {
    struct Users {
        var groups: [String: [String]] = [:]
        var changed = ChangedUsers.none
        /// The realms with this key that have reported the change, by their login contexts.
        var reporters: Set<String> = []
    }

    static let properties: PropertySchema = [.jaasContext(default: "meadow"), .string("key", default: "")]
    static let users = Mutex<[String: Users]>([:])

    let jaasContext: String
    let key: String
    var authType: String { "Meadow" }

    init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        key = try properties.string("key")
    }

    func groupNames(of user: Username) async throws(RealmError) -> [String] {
        guard let groups = Self.users.withLock({ $0[key]?.groups[user.text] }) else { throw .noSuchUser(user) }
        return groups
    }

    func refresh() async -> ChangedUsers {
        Self.users.withLock { users in
            guard users[key]?.reporters.insert(jaasContext).inserted == true else { return .none }
            return users[key]?.changed ?? .none
        }
    }

    func state(of user: Username) async -> UserState {
        guard let groups = Self.users.withLock({ $0[key]?.groups[user.text] }) else { return .gone }
        return .present(SecurityStamp(Array(groups.joined(separator: ",").utf8)))
    }
}

private struct MeadowModule: LoginModule {
    let realm: MeadowRealm

    init(realm: MeadowRealm, options: ModuleOptions) throws(BadModule) { self.realm = realm }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        _ = try await attempt.password()
        do throws(RealmError) {
            return attempt.commit(groups: try await realm.groupNames(of: attempt.username))
        } catch {
            return .failed(.unknownUser)
        }
    }
}

/// Sessions and cached credentials of an aggregate, while users of the realms that it uses change.
@Suite struct AggregateSessionTests {
    private static let configuration = """
        default-realm people;
        login meadow { MeadowModule required; }
        login coded  { MeadowModule required; ScriptedLoginModule required code="123456"; }
        login aggregateRealm { AggregateLoginModule required; }
        realm accounts  { class MeadowRealm; key aKEY; }
        realm careful   { class MeadowRealm; key aKEY; jaas-context coded; }
        realm directory { class MeadowRealm; key dKEY; EXTRA }
        realm people { class AggregateRealm; authentication accounts; authorization directory; name-mapping "*@x->*"; }
        realm coded  { class AggregateRealm; authentication careful;  authorization directory; name-mapping "*@x->*"; }
        server { listen 127.0.0.1:0; sign-in { realm coded people; } }
        protect /staff { auth form basic; require group Staff; }
        """

    private let key = "\(UInt64.random(in: 0...UInt64.max))"
    private let server: TestServer

    init() throws {
        server = try Self.server(key)
        for name in ["ann@x", "bob@x"] { change("a", name, to: []) }
        for name in ["ann", "bob"] { change("d", name, to: ["Staff"]) }
    }

    private static func server(_ key: String, extra: String = "") throws -> TestServer {
        try TestServer(
            configuration.replacing("KEY", with: key).replacing("EXTRA", with: extra),
            clock: ManualClock(now: 1_000_000_000_000),
            kinds: [RealmKind(MeadowRealm.self, modules: MeadowModule.self)]
        )
    }

    private func change(_ realm: String, _ name: String, to groups: [String]?, reporting changed: ChangedUsers = .none)
    {
        MeadowRealm.users.withLock { users in
            users[realm + key, default: .init()].groups[name] = groups
            users[realm + key]?.changed = changed
            users[realm + key]?.reporters = []
        }
    }

    private func users(_ name: String) throws -> ChangedUsers { .some([try Username(name)]) }

    private func signedIn(_ name: String) async throws -> TestClient {
        let client = TestClient(server)
        #expect(try await client.signIn(name, at: "/sign-in?return=/staff").location == "/staff")
        #expect(try await client.get("/staff").status == 200)
        return client
    }

    @Test(arguments: ["a", "d"])
    func `a change in either realm ends the sessions of this user and of no other`(realm: String) async throws {
        let (ann, bob) = (try await signedIn("ann@x"), try await signedIn("bob@x"))
        await server.service.refresher.refresh()
        #expect(server.sessions.count == 2)
        let name = realm == "a" ? "ann@x" : "ann"
        change(realm, name, to: ["Others"], reporting: try users(name))
        await server.service.refresher.refresh()
        #expect(try await ann.get("/staff").status != 200)
        #expect(try await bob.get("/staff").status == 200)
        #expect(server.sessions.count == 1)
    }

    @Test func `cached credentials are revoked too`() async throws {
        func status(_ name: String) async throws -> Int {
            let token = Data("\(name):x".utf8).base64EncodedString()
            return try await TestClient(server).send("GET", "/staff", ["Authorization: Basic \(token)"]).status
        }
        for name in ["ann@x", "bob@x"] { #expect(try await status(name) == 200) }
        change("d", "ann", to: [])
        #expect(try await status("ann@x") == 200, "the credentials are cached")
        change("d", "ann", to: [], reporting: try users("ann"))
        await server.service.refresher.refresh()
        #expect(try await status("ann@x") == 403)
        #expect(try await status("bob@x") == 200)
    }

    @Test func `a change of unknown users ends the sessions whose state has changed`() async throws {
        let (ann, bob) = (try await signedIn("ann@x"), try await signedIn("bob@x"))
        change("d", "ann", to: nil, reporting: .all)
        await server.service.refresher.refresh()
        #expect(try await ann.get("/staff").status != 200)
        #expect(try await bob.get("/staff").status == 200)
    }

    @Test func `no session begins if the user changes in a nested realm during the login`() async throws {
        func signIn(meanwhile change: () throws -> Void) async throws -> Int {
            let client = TestClient(server)
            let json = "{\"username\":\"ann@x\",\"password\":\"x\",\"realm\":\"coded\"}"
            let number = try #require(try await client.fetch("POST", "/session", json: json).json("number"))
            try change()
            let answers = "{\"number\":\(number),\"answers\":[\"123456\"]}"
            return try await client.fetch("POST", "/session", json: answers).status
        }
        #expect(try await signIn {} == 201)
        #expect(try await signIn { change("d", "bob", to: [], reporting: try users("bob")) } == 201)
        #expect(try await signIn { change("d", "ann", to: [], reporting: try users("ann")) } == 401)
        #expect(try await signIn { change("a", "ann@x", to: ["New"], reporting: try users("ann@x")) } == 401)
    }

    @Test func `a reload with other settings of a nested realm ends the sessions of the aggregate`() async throws {
        let ann = try Username("ann@x")
        func state(_ server: TestServer) async throws -> UserState {
            let authenticator = server.configuration.authenticator
            return await SessionValidator(authenticator: authenticator)
                .state(of: ann, in: try authenticator.realm("people"))
        }
        let before = try await state(server)
        #expect(before.stamp != nil)
        #expect(try await state(Self.server(key)) == before)
        #expect(try await state(Self.server(key, extra: "assign-groups Crew;")) != before)
    }
}

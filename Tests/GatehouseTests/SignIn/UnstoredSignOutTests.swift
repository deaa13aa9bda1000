// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import RealmTesting
import Sessions
import Synchronization
import Testing

@testable import SignIn

/// Tests that the server reports a sign-out as failed if its end of the session cannot be stored.
@Suite struct UnstoredSignOutTests {
    private let store = FailingStore()
    private let server: TestServer
    private let client: TestClient

    init() throws {
        server = try TestServer(SignInTests.configuration, store: store, clock: ManualClock(now: 1_000_000_000_000))
        client = TestClient(server)
    }

    /// Signs in and then makes the store fail.
    private func signedIn() async throws -> (token: String, csrf: String) {
        #expect(try await client.signIn("zed").location == "/account")
        let csrf = try #require(try await client.fetch("GET", "/session").json("csrf"))
        let token = try #require(client[TestClient.session])
        store.setFailing(true)
        return (token, csrf)
    }

    private func isSignedOut(_ token: String) async throws -> Bool {
        let thief = TestClient(server)
        thief[TestClient.session] = token
        return try await thief.get("/welcome").status == 302
    }

    @Test func `DELETE ends a session at once, and returns 503 until the end is stored`() async throws {
        let (token, _) = try await signedIn()
        for _ in 0..<2 {
            client[TestClient.session] = token
            let answer = try await client.fetch("DELETE", "/session")
            #expect(answer.status == 503)
            #expect(answer.json("error") == "not-stored")
            #expect(answer["retry-after"] == "5")
            #expect(client[TestClient.session] == nil)
            #expect(try await isSignedOut(token))
        }
        #expect(server.log.text.contains("the end of a session could not be stored"))
        store.setFailing(false)
        client[TestClient.session] = token
        #expect(try await client.fetch("DELETE", "/session").status == 204)
        client[TestClient.session] = token
        #expect(try await client.fetch("DELETE", "/session").status == 404)
    }

    @Test func `the sign-out page shows 503 until the end is stored`() async throws {
        let (token, csrf) = try await signedIn()
        for _ in 0..<2 {
            client[TestClient.session] = token
            let answer = try await client.post("/sign-out", [("csrf", csrf)])
            #expect(answer.status == 503)
            #expect(answer.body.contains("The end of the session could not be saved"))
            #expect(client[TestClient.session] == nil)
            #expect(try await isSignedOut(token))
        }
        store.setFailing(false)
        client[TestClient.session] = token
        #expect(try await client.post("/sign-out", [("csrf", csrf)]).status == 303)
    }

    @Test func `ending another session, and a sign-in that ends a session, get 503 until the end is stored`()
        async throws
    {
        let other = TestClient(server)
        var tokens: [String] = []
        for _ in 0..<2 {
            other[TestClient.session] = nil
            #expect(try await other.signIn("zed").location == "/account")
            tokens.append(try #require(other[TestClient.session]))
        }
        let id = try #require(try await other.fetch("GET", "/session").json("id"))
        let (token, csrf) = try await signedIn()
        // A repeated request also gets 503.
        for _ in 0..<2 {
            #expect(try await client.fetch("DELETE", "/sessions/\(id)").status == 503)
            #expect(try await isSignedOut(tokens[1]))
            #expect(try await client.post("/account/end", [("csrf", csrf), ("id", id)]).status == 503)
        }
        for _ in 0..<2 {
            #expect(try await client.post("/account/end", [("csrf", csrf), ("others", "all")]).status == 503)
            #expect(try await isSignedOut(tokens[0]))
        }
        // The client's own session does not end.
        #expect(try await client.fetch("GET", "/session").status == 200)
        #expect(try await client.signIn("zoe").status == 503)
        #expect(client[TestClient.session] == nil)
        #expect(try await isSignedOut(token))
    }

    @Test func `a repeated request to end another session gets 204 after the end is stored`() async throws {
        var ids: [String] = []
        for _ in 0..<2 {
            let other = TestClient(server)
            #expect(try await other.signIn("zed").location == "/account")
            ids.append(try #require(try await other.fetch("GET", "/session").json("id")))
        }
        let stranger = TestClient(server)
        #expect(try await stranger.signIn("zoe").location == "/account")
        let (_, csrf) = try await signedIn()
        for id in ids { #expect(try await client.fetch("DELETE", "/sessions/\(id)").status == 503) }
        // A user cannot end the sessions of another user in this state either.
        #expect(try await stranger.fetch("DELETE", "/sessions/\(ids[0])").status == 404)
        store.setFailing(false)
        #expect(try await client.fetch("DELETE", "/sessions/\(ids[0])").status == 204)
        #expect(try await client.fetch("DELETE", "/sessions/\(ids[0])").status == 404)
        #expect(try await client.post("/account/end", [("csrf", csrf), ("others", "all")]).status == 303)
        #expect(try await client.fetch("DELETE", "/sessions/\(ids[1])").status == 404)
    }

    @Test func `a sign-in by the session API gets 503 if it ends a session and the end is not stored`() async throws {
        let (token, _) = try await signedIn()
        let json = "{\"username\":\"zoe\",\"password\":\"x\"}"
        let answer = try await client.fetch("POST", "/session", json: json)
        #expect(answer.status == 503 && answer.json("error") == "not-stored")
        #expect(client[TestClient.session] == nil)
        #expect(try await isSignedOut(token))
        #expect(server.sessions.count == 0)
    }
}

/// A store that keeps no sessions and fails while a test has set it to fail.
final class FailingStore: SessionStore {
    private let isFailing = Mutex(false)
    private let removing = Mutex<(@Sendable () -> Void)?>(nil)

    func setFailing(_ isFailing: Bool) { self.isFailing.withLock { $0 = isFailing } }

    /// Sets a closure that runs before sessions are removed.
    func whenRemoving(_ body: (@Sendable () -> Void)?) { removing.withLock { $0 = body } }

    private func check() throws(SessionStoreError) {
        if isFailing.withLock({ $0 }) { throw SessionStoreError("the disk is full") }
    }

    func loadSessions() async throws(SessionStoreError) -> SessionSnapshot { SessionSnapshot() }
    func saveSession(_ session: SessionRecord) async throws(SessionStoreError) { try check() }
    func touchSessions(_ touches: [SessionTouch]) async throws(SessionStoreError) { try check() }
    func removeSessions(_ ids: [SessionID]) async throws(SessionStoreError) {
        removing.withLock { $0 }?()
        try check()
    }
    func recordEnded(_ ids: [SessionID]) async throws(SessionStoreError) { try check() }
    func sessionCommands(after number: Int) async throws(SessionStoreError) -> [SessionCommand] { [] }
    func storeCommand(_ action: SessionCommand.Action) async throws(SessionStoreError) -> Int { 0 }
}

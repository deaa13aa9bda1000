// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Synchronization
import Testing

@testable import Sessions
@testable import SignIn

/// Tests that the end of a session calls `logout` of the modules of its login.
@Suite struct LogoutTests {
    private static let configuration = """
        default-realm ward;
        login ward { RecordingLoginModule required; }
        realm ward { class WardRealm; jaas-context ward; }
        server { listen 127.0.0.1:0; sessions { per-user 2; } }
        protect / { auth form; require any; }
        """

    private let clock = ManualClock(now: 1_000_000_000_000)
    private let store = FailingStore()
    private let server: TestServer
    private let client: TestClient
    private let key = "ward\(UInt64.random(in: 0...UInt64.max))"

    init() throws {
        let text = Self.configuration.replacing("required;", with: "required key=\"\(key)\";")
        let kind = RealmKind(WardRealm.self, modules: RecordingLoginModule.self)
        server = try TestServer(text, store: store, clock: clock, kinds: [kind])
        client = TestClient(server)
    }

    private func signIn(_ name: String, at client: TestClient? = nil) async throws {
        let client = client ?? self.client
        #expect(try await client.signIn(name).location == "/account")
    }

    /// Runs all logouts in the queue, and returns the names of their users.
    private func logouts() async throws -> [String] {
        RecordingLoginModule.setLoginAction(key) {}
        // Logouts start in order, and at most `maximumConcurrent` run at a time. When the last `maximumConcurrent`
        // logouts are running, all others are done.
        for number in 0..<LogoutQueue.maximumConcurrent { try await signIn("last\(number)", at: TestClient(server)) }
        server.sessions.end(.administrator) { $0.user.username.text.hasPrefix("last") }
        let task = Task { await server.service.logouts.run() }
        await RecordingLoginModule.untilHeld(key)
        task.cancel()
        await task.value
        return RecordingLoginModule.names(key)
    }

    @Test func `logout of the modules is called once when a session ends for any reason`() async throws {
        try await signIn("ann")
        #expect(try await client.fetch("DELETE", "/session").status == 204)
        #expect(try await client.fetch("DELETE", "/session").status == 404)
        try await signIn("bob")
        // This sign-in ends the session of bob.
        try await signIn("cyd")
        server.sessions.end(.administrator) { $0.user.username.text == "cyd" }
        server.sessions.end(.userChanged) { $0.user.username.text == "cyd" }
        for _ in 0..<3 { try await signIn("dan", at: TestClient(server)) }
        clock.advance(by: .seconds(1801))
        server.sessions.sweep()
        #expect(try await logouts().sorted() == ["ann", "bob", "cyd", "dan", "dan", "dan"])
    }

    @Test func `logout of the modules is also called for a login that gets no session`() async throws {
        RecordingLoginModule.setLoginAction(key) { [server] in server.sessions.end(.userChanged) { _ in true } }
        #expect(try await client.signIn("ann").location != "/account")
        #expect(client[TestClient.session] == nil)
        #expect(try await logouts() == ["ann"])
    }

    @Test func `logout of the modules is called once if a session ends while the store fails`() async throws {
        for _ in 0..<2 { try await signIn("dan", at: TestClient(server)) }
        // The third session ends the first session. After that the store fails, and an administrator ends all sessions.
        store.whenRemoving { [server, store] in
            store.setFailing(true)
            server.sessions.end(.administrator) { _ in true }
        }
        #expect(try await client.signIn("dan").location != "/account")
        #expect(server.sessions.count == 0)
        store.whenRemoving(nil)
        store.setFailing(false)
        #expect(try await logouts() == ["dan", "dan", "dan"])
    }

    @Test func `a sign-out does not wait for modules, and a stuck module does not delay other logouts`() async throws {
        try await signIn("stuck")
        try await signIn("ann", at: TestClient(server))
        let task = Task { await server.service.logouts.run() }
        #expect(try await client.fetch("DELETE", "/session").status == 204)
        server.sessions.end(.administrator) { _ in true }
        await RecordingLoginModule.waitForLogouts(1, key: key)
        #expect(RecordingLoginModule.names(key) == ["ann"])
        await clock.untilAsleep(1)
        clock.advance(by: LogoutQueue.deadline)
        await server.log.waitForLine(containing: "the modules did not answer within")
        task.cancel()
        await task.value
        #expect(server.log.text.contains("a logout has failed"))
    }

    @Test func `a stopping server does not wait for a stuck module`() async throws {
        try await signIn("stuck")
        server.sessions.end(.administrator) { _ in true }
        let task = Task { await server.service.logouts.run() }
        await clock.untilAsleep(1)
        task.cancel()
        await task.value
        #expect(RecordingLoginModule.names(key).isEmpty)
    }

    @Test func `a failed logout of a module is logged`() async throws {
        try await signIn("broken")
        server.sessions.end(.administrator) { _ in true }
        let task = Task { await server.service.logouts.run() }
        await server.log.waitForLine(containing: "cannot log out")
        task.cancel()
        await task.value
        #expect(server.log.text.contains("cannot log out"))
    }

    @Test func `if too many logouts wait, further logouts are dropped, with one line in the log`() async throws {
        let queue = LogoutQueue(capacity: 2, clock: clock, logger: server.log.logger)
        let stack = LoginStack(name: "s", [.init(RecordingLoginModule(key), .required)], clock: clock)
        for _ in 0..<4 {
            let request = LoginRequest(realm: "ward", username: try Username("ann"))
            queue.add(await stack.login(request, asking: PreparedConversation(password: Secret(utf8: "x"))).identity)
        }
        queue.add(nil)
        #expect(server.log.text.split(separator: "\n").count { $0.contains("too many logouts are waiting") } == 1)
        let task = Task { await queue.run() }
        await RecordingLoginModule.waitForLogouts(2, key: key)
        task.cancel()
        await task.value
        #expect(RecordingLoginModule.names(key) == ["ann", "ann"])
    }
}

private struct WardRealm: Realm {
    static let properties: PropertySchema = [.jaasContext(default: "ward")]
    let jaasContext: String
    var authType: String { "ward" }

    init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
}

/// Accepts every user and records logouts.
///
/// The logout of `stuck` never returns, and the logout of `broken` fails. Logouts of users whose names begin with
/// `last` wait until `LogoutQueue.maximumConcurrent` of them are running, and are not recorded.
private struct RecordingLoginModule: LoginModule {
    static let options: PropertySchema = [.string("key", default: "")]

    private struct Records {
        var names: [String] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var loginAction: (@Sendable () -> Void)?
        var held: [CheckedContinuation<Void, Never>] = []
        var waiterForHeld: CheckedContinuation<Void, Never>?
    }

    private static let records = Mutex<[String: Records]>([:])
    private let key: String

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        do { key = try options.string("key") } catch { throw BadModule("key") }
    }

    init(_ key: String) { self.key = key }

    static func names(_ key: String) -> [String] { records.withLock { $0[key]?.names ?? [] } }

    static func setLoginAction(_ key: String, _ body: @escaping @Sendable () -> Void) {
        records.withLock { $0[key, default: Records()].loginAction = body }
    }

    static func waitForLogouts(_ count: Int, key: String) async {
        await withCheckedContinuation { continuation in
            let isReached = records.withLock { records in
                guard records[key, default: Records()].names.count < count else { return true }
                records[key, default: Records()].waiting.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    /// Waits until `LogoutQueue.maximumConcurrent` logouts are held, and releases them.
    static func untilHeld(_ key: String) async {
        await withCheckedContinuation { continuation in
            let isReached = records.withLock { records in
                guard records[key, default: Records()].held.count < LogoutQueue.maximumConcurrent else { return true }
                records[key, default: Records()].waiterForHeld = continuation
                return false
            }
            if isReached { continuation.resume() }
        }
        let held = records.withLock { records in
            defer { records[key]?.held = [] }
            return records[key]?.held ?? []
        }
        held.forEach { $0.resume() }
    }

    private static func hold(_ key: String) async {
        await withCheckedContinuation { continuation in
            let waiterForHeld = records.withLock { records -> CheckedContinuation<Void, Never>? in
                records[key, default: Records()].held.append(continuation)
                guard records[key]?.held.count == LogoutQueue.maximumConcurrent else { return nil }
                defer { records[key]?.waiterForHeld = nil }
                return records[key]?.waiterForHeld
            }
            waiterForHeld?.resume()
        }
    }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        Self.records.withLock { $0[key]?.loginAction }?()
        return attempt.commit(groups: ["Staff"])
    }

    func logout(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        let name = attempt.username.text
        if name == "broken" { throw .unavailable("cannot log out") }
        if name.hasPrefix("last") {
            await Self.hold(key)
            return .done
        }
        if name == "stuck" { await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in } }
        let satisfied = Self.records.withLock { records in
            records[key, default: Records()].names.append(name)
            let count = records[key]?.names.count ?? 0
            let satisfied = records[key]?.waiting.filter { $0.count <= count } ?? []
            records[key]?.waiting.removeAll { $0.count <= count }
            return satisfied
        }
        satisfied.forEach { $0.continuation.resume() }
        return .done
    }
}

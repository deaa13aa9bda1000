// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Synchronization
import Testing

@testable import Sessions
@testable import SignIn

/// The modules of a login log out when its session ends.
@Suite struct LogoutTests {
    private static let configuration = """
        default-realm ward;
        login ward { NotingLoginModule required; }
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
        let kind = RealmKind(WardRealm.self, modules: NotingLoginModule.self)
        server = try TestServer(text, store: store, clock: clock, kinds: [kind])
        client = TestClient(server)
    }

    private func signIn(_ name: String, at client: TestClient? = nil) async throws {
        let client = client ?? self.client
        #expect(try await client.signIn(name).location == "/account")
    }

    /// The users whose logouts have run when the queue is empty.
    private func logouts() async throws -> [String] {
        NotingLoginModule.meanwhile(key) {}
        // Logouts run in order, `maximumConcurrent` at a time: when that many of the last ones are held, all others are
        // done.
        for number in 0..<LogoutQueue.maximumConcurrent { try await signIn("last\(number)", at: TestClient(server)) }
        server.sessions.end(.administrator) { $0.user.username.text.hasPrefix("last") }
        let task = Task { await server.state.logouts.run() }
        await NotingLoginModule.untilHeld(key)
        task.cancel()
        await task.value
        return NotingLoginModule.names(key)
    }

    @Test func `the end of a session, for any cause, calls the modules' logout once`() async throws {
        try await signIn("ann")
        #expect(try await client.fetch("DELETE", "/session").status == 204)
        #expect(try await client.fetch("DELETE", "/session").status == 404)
        try await signIn("bob")
        // Replaces the session of bob.
        try await signIn("cyd")
        server.sessions.end(.administrator) { $0.user.username.text == "cyd" }
        server.sessions.end(.userChanged) { $0.user.username.text == "cyd" }
        for _ in 0..<3 { try await signIn("dan", at: TestClient(server)) }
        clock.advance(by: .seconds(1801))
        server.sessions.sweep()
        #expect(try await logouts().sorted() == ["ann", "bob", "cyd", "dan", "dan", "dan"])
    }

    @Test func `a login without a session calls the modules' logout, too`() async throws {
        NotingLoginModule.meanwhile(key) { [server] in server.sessions.end(.userChanged) { _ in true } }
        #expect(try await client.signIn("ann").location != "/account")
        #expect(client[TestClient.session] == nil)
        #expect(try await logouts() == ["ann"])
    }

    @Test func `a login whose session ends while it cannot be stored calls the modules' logout once`() async throws {
        for _ in 0..<2 { try await signIn("dan", at: TestClient(server)) }
        // The third session ends the first; that end cannot be stored, and meanwhile an administrator ends all.
        store.whenRemoving { [server, store] in
            store.fails(true)
            server.sessions.end(.administrator) { _ in true }
        }
        #expect(try await client.signIn("dan").location != "/account")
        #expect(server.sessions.count == 0)
        store.whenRemoving(nil)
        store.fails(false)
        #expect(try await logouts() == ["dan", "dan", "dan"])
    }

    @Test func `signing out does not wait for modules, and a stuck module delays no other`() async throws {
        try await signIn("stuck")
        try await signIn("ann", at: TestClient(server))
        let task = Task { await server.state.logouts.run() }
        #expect(try await client.fetch("DELETE", "/session").status == 204)
        server.sessions.end(.administrator) { _ in true }
        await NotingLoginModule.until(1, key)
        #expect(NotingLoginModule.names(key) == ["ann"])
        await clock.untilAsleep(1)
        clock.advance(by: LogoutQueue.deadline)
        await server.log.until("the modules did not answer within")
        task.cancel()
        await task.value
        #expect(server.log.text.contains("a logout has failed"))
    }

    @Test func `a server that stops does not wait for a module that is stuck`() async throws {
        try await signIn("stuck")
        server.sessions.end(.administrator) { _ in true }
        let task = Task { await server.state.logouts.run() }
        await clock.untilAsleep(1)
        task.cancel()
        await task.value
        #expect(NotingLoginModule.names(key).isEmpty)
    }

    @Test func `a failed logout of a module is logged`() async throws {
        try await signIn("broken")
        server.sessions.end(.administrator) { _ in true }
        let task = Task { await server.state.logouts.run() }
        await server.log.until("cannot log out")
        task.cancel()
        await task.value
        #expect(server.log.text.contains("cannot log out"))
    }

    @Test func `when too many logouts wait further ones are dropped, with one line in the log`() async throws {
        let queue = LogoutQueue(capacity: 2, clock: clock, logger: server.log.logger)
        let stack = LoginStack(name: "s", [.init(NotingLoginModule(key), .required)], clock: clock)
        for _ in 0..<4 {
            let request = LoginRequest(realm: "ward", username: try Username("ann"))
            queue.add(await stack.login(request, asking: PreparedConversation(password: Secret(utf8: "x"))).identity)
        }
        queue.add(nil)
        #expect(server.log.text.split(separator: "\n").count { $0.contains("too many logouts are waiting") } == 1)
        let task = Task { await queue.run() }
        await NotingLoginModule.until(2, key)
        task.cancel()
        await task.value
        #expect(NotingLoginModule.names(key) == ["ann", "ann"])
    }
}

private struct WardRealm: Realm {
    static let properties: PropertySchema = [.jaasContext(default: "ward")]
    let jaasContext: String
    var authType: String { "ward" }

    init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
}

/// Accepts every user and notes logouts: that of `stuck` never returns, that of `broken` fails, and those of names that
/// begin with `last` wait for each other and are not noted.
private struct NotingLoginModule: LoginModule {
    static let options: PropertySchema = [.string("key", default: "")]

    private struct Notes {
        var names: [String] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var meanwhile: (@Sendable () -> Void)?
        var held: [CheckedContinuation<Void, Never>] = []
        var holder: CheckedContinuation<Void, Never>?
    }

    private static let notes = Mutex<[String: Notes]>([:])
    private let key: String

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        do { key = try options.string("key") } catch { throw BadModule("key") }
    }

    init(_ key: String) { self.key = key }

    static func names(_ key: String) -> [String] { notes.withLock { $0[key]?.names ?? [] } }

    static func meanwhile(_ key: String, _ body: @escaping @Sendable () -> Void) {
        notes.withLock { $0[key, default: Notes()].meanwhile = body }
    }

    static func until(_ count: Int, _ key: String) async {
        await withCheckedContinuation { continuation in
            let isThere = notes.withLock { notes in
                guard notes[key, default: Notes()].names.count < count else { return true }
                notes[key, default: Notes()].waiting.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Waits until `LogoutQueue.maximumConcurrent` logouts are held, and releases them.
    static func untilHeld(_ key: String) async {
        await withCheckedContinuation { continuation in
            let isThere = notes.withLock { notes in
                guard notes[key, default: Notes()].held.count < LogoutQueue.maximumConcurrent else { return true }
                notes[key, default: Notes()].holder = continuation
                return false
            }
            if isThere { continuation.resume() }
        }
        let held = notes.withLock { notes in
            defer { notes[key]?.held = [] }
            return notes[key]?.held ?? []
        }
        held.forEach { $0.resume() }
    }

    private static func hold(_ key: String) async {
        await withCheckedContinuation { continuation in
            let holder = notes.withLock { notes -> CheckedContinuation<Void, Never>? in
                notes[key, default: Notes()].held.append(continuation)
                guard notes[key]?.held.count == LogoutQueue.maximumConcurrent else { return nil }
                defer { notes[key]?.holder = nil }
                return notes[key]?.holder
            }
            holder?.resume()
        }
    }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        Self.notes.withLock { $0[key]?.meanwhile }?()
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
        let woken = Self.notes.withLock { notes in
            notes[key, default: Notes()].names.append(name)
            let count = notes[key]?.names.count ?? 0
            let woken = notes[key]?.waiting.filter { $0.count <= count } ?? []
            notes[key]?.waiting.removeAll { $0.count <= count }
            return woken
        }
        woken.forEach { $0.continuation.resume() }
        return .done
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Synchronization

@testable import Throttle

/// A realm behind a throttle, with clocks that stand still.
final class House: Sendable {
    let clock: ManualClock
    let wall: WallClock
    let throttle: FailureThrottle
    let authenticator: Authenticator
    let locks = Notes<String>()

    init(
        _ change: (inout ThrottleSettings) -> Void = { _ in },
        store: (any ThrottleStore)? = nil,
        clock: ManualClock = ManualClock(now: 1_000_000_000_000),
        wall: WallClock = WallClock(),
        entries: [LoginStack.Entry] = [LoginStack.Entry(PasswordCheck(), .required)]
    ) throws {
        var settings = ThrottleSettings()
        settings.delay = .zero
        change(&settings)
        self.clock = clock
        self.wall = wall
        let locks = locks
        throttle = FailureThrottle(
            settings,
            clock: clock,
            wall: { wall.now },
            jitter: { 0 },
            store: store,
            onLock: { lockout, username in locks.add("\(lockout.key) as \(username)") }
        )
        let realm = BoundRealm(
            name: "town",
            className: "Town",
            realm: try Town(RealmProperties(schema: Town.properties, realmName: "town")),
            // Its own clock, which stands still: deadlines of modules are another matter.
            stack: LoginStack(name: "lane", entries, clock: ManualClock())
        )
        authenticator = Authenticator([realm]).throttled(by: throttle)
    }

    /// One login.
    func login(
        _ name: String,
        _ password: String?,
        from peer: String? = "192.0.2.7",
        service: String = "tests"
    ) async throws -> LoginReport {
        let username = try Username(name)
        let request = LoginRequest(realm: "town", username: username, service: service, peer: peer)
        let conversation = PreparedConversation(name: name, password: password.map { Secret(utf8: $0) })
        return try await authenticator.login(request, asking: conversation)
    }

    /// What came of a login: `in`, or the code of the failure.
    func answer(_ name: String, _ password: String?, from peer: String? = "192.0.2.7") async throws -> String {
        try await login(name, password, from: peer).refusal?.failure.code ?? "in"
    }

    /// Wrong passwords, one after the other.
    func fail(_ name: String, _ times: Int = 1, from peer: String? = "192.0.2.7") async throws {
        for _ in 0..<times { _ = try await login(name, "wrong", from: peer) }
    }

    /// Waits until so many attempts wait.
    func untilWaiting(_ count: Int) async {
        while throttle.pending.waiting < count { await Task.yield() }
    }
}

/// A realm that takes names by whichever spelling, and mail addresses.
struct Town: Realm {
    static let properties: PropertySchema = [.jaasContext(default: "lane")]
    let jaasContext: String
    var authType: String { "Town" }

    init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }

    func accountKey(of user: Username) -> String {
        String(user.caseFolded.prefix { $0 != "@" })
    }
}

/// Accepts the password `right`; there is no user called nobody.
struct PasswordCheck: LoginModule {
    /// How often a password was compared.
    let checks = Notes<String>()

    init() {}

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        let password = try await attempt.password()
        checks.add(attempt.username.text)
        if attempt.username.text.hasPrefix("nobody") { return .failed(.unknownUser) }
        let isRight = password.matches("right")
        return isRight ? attempt.commit(groups: ["Staff"]) : .failed(.wrongCredentials)
    }
}

extension Secret {
    func matches(_ text: String) -> Bool {
        withBytes { bytes in
            let wanted = Array(text.utf8)
            guard bytes.count == wanted.count else { return false }
            return wanted.indices.allSatisfy { bytes[$0] == wanted[$0] }
        }
    }
}

/// A wall clock that can be set.
final class WallClock: Sendable {
    private let time = Mutex(1_800_000_000)

    var now: Int { time.withLock { $0 } }

    func move(by seconds: Int) { time.withLock { $0 += seconds } }
}

/// Things that have happened, in order.
final class Notes<Entry: Sendable>: Sendable {
    private let entries = Mutex<[Entry]>([])

    var all: [Entry] { entries.withLock { $0 } }

    func add(_ entry: Entry) { entries.withLock { $0.append(entry) } }
}

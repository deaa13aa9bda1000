// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Synchronization
import TestTools

@testable import Throttle

/// Realms behind a throttle, with clocks that the test moves.
final class ThrottleFixture: Sendable {
    let clock: ManualClock
    let wall: WallClock
    let throttle: FailureThrottle
    let authenticator: Authenticator
    let locks = SharedList<String>()

    init(
        _ change: (inout ThrottleSettings) -> Void = { _ in },
        store: (any ThrottleStore)? = nil,
        clock: ManualClock = ManualClock(now: 1_000_000_000_000),
        wall: WallClock = WallClock(),
        entries: [LoginStack.Entry] = [LoginStack.Entry(PasswordCheck(), .required)],
        others: [String: [LoginStack.Entry]] = [:]
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
        let realms = try (others.merging(["town": entries]) { $1 }).map { name, entries in
            BoundRealm(
                name: name,
                className: "Town",
                realm: try Town(RealmProperties(schema: Town.properties, realmName: name)),
                // No test advances this clock, so no module reaches its deadline.
                stack: LoginStack(name: "lane", entries, clock: ManualClock())
            )
        }
        authenticator = Authenticator(realms).throttled(by: throttle)
    }

    /// Logs in to several realms in order, until a realm accepts.
    func login(
        _ name: String,
        _ password: String?,
        in realms: [String],
        from peer: String? = "192.0.2.7"
    ) async throws -> MultiRealmLoginReport {
        let conversation = PreparedConversation(name: name, password: password.map { Secret(utf8: $0) })
        let username = try Username(name)
        return try await authenticator.login(as: username, inFirstOf: realms, peer: peer, asking: conversation)
    }

    /// The number of failures of an account; nil if it is locked.
    func failures(of account: String, in realm: String = "town") -> Int? {
        failures(.account(Account(realm: realm, key: account)))
    }

    /// The number of failures of an address; nil if it is locked.
    func failures(from address: String) -> Int? { failures(.source(ClientNetwork(address))) }

    private func failures(_ key: ThrottleKey) -> Int? {
        let status = throttle.state.withLock { $0[key].status(key, at: throttle.moment) }
        if case .open(let failures) = status { return failures }
        return nil
    }

    /// Returns the result of `body` and its duration in milliseconds.
    ///
    /// Advances the clock until `body` returns.
    func timed<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> (value: Value, milliseconds: Int) {
        let begin = clock.now
        let done = SharedList<UInt64>()
        let task = Task {
            defer { done.add(clock.now) }
            return try await body()
        }
        try await Waiting.until {
            if clock.sleeperCount > 0 { clock.advance(by: .milliseconds(10)) }
            return !done.all.isEmpty
        }
        return (try await task.value, Int((done.all[0] - begin) / 1_000_000))
    }

    /// Logs in to the realm `town`.
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

    /// Logs in, and returns `in` or the code of the failure.
    func answer(_ name: String, _ password: String?, from peer: String? = "192.0.2.7") async throws -> String {
        try await login(name, password, from: peer).refusal?.failure.code ?? "in"
    }

    /// Logs in with a wrong password several times in sequence.
    func fail(_ name: String, _ times: Int = 1, from peer: String? = "192.0.2.7") async throws {
        for _ in 0..<times { _ = try await login(name, "wrong", from: peer) }
    }

    /// Returns when at least `count` attempts are waiting.
    func untilWaiting(_ count: Int) async throws { try await Waiting.until { throttle.pending.waiting >= count } }
}

extension FailureThrottle {
    /// The reservations of running logins, one at each account and source, and the waiting logins.
    var pending: (running: Int, waiting: Int) { state.withLock { $0.pending } }
}

extension ThrottleState {
    var pending: (running: Int, waiting: Int) {
        (running.values.reduce(0, +), statistics(at: 0).waitingAttempts)
    }
}

/// A realm that ignores the case of user names, and the domain of a mail address.
struct Town: Realm {
    static let properties: PropertySchema = [.jaasContext(default: "lane")]
    let jaasContext: String
    var authType: String { "Town" }

    init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }

    func accountKey(of user: Username) -> String {
        String(user.caseFolded.prefix { $0 != "@" })
    }
}

/// A module that accepts one password, `right` by default.
///
/// It knows every user whose name does not begin with `nobody`.
struct PasswordCheck: LoginModule {
    /// The user names of the passwords that were checked.
    let checks = SharedList<String>()
    private let password: String

    init(_ password: String = "right") { self.password = password }

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { self.init() }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        let password = try await attempt.password()
        checks.add(attempt.username.text)
        if attempt.username.text.hasPrefix("nobody") { return .failed(.unknownUser) }
        let isRight = password.matches(self.password)
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

/// A list to which several threads may add elements.
final class SharedList<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }

    func add(_ element: Element) { elements.withLock { $0.append(element) } }
}

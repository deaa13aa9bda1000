// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Synchronization
import Testing

@testable import Sessions

/// A session table whose clocks a test controls.
final class SessionFixture: Sendable {
    let clock: ManualClock
    let wall: ManualWallClock
    let table: SessionTable
    let ends = Recorder<String>()
    let wrongHosts = Recorder<String>()
    let errors = Recorder<String>()

    init(
        _ change: (inout SessionSettings) -> Void = { _ in },
        store: (any SessionStore)? = nil,
        clock: ManualClock = ManualClock(now: 1_000_000_000_000),
        wall: ManualWallClock = ManualWallClock()
    ) {
        var settings = SessionSettings()
        change(&settings)
        self.clock = clock
        self.wall = wall
        let ends = ends
        let wrongHosts = wrongHosts
        table = SessionTable(
            settings,
            store: store,
            clock: clock,
            wall: WallClock { wall.now },
            onWrongHost: { session, host in wrongHosts.add("\(session.user.username) of \(session.host) at \(host)") },
            onEnd: { session, cause in ends.add("\(session.user.username): \(cause.rawValue)") }
        )
    }

    /// The default host of sessions.
    static let host = host("house.example")

    static func host(_ name: String) -> SessionHost {
        guard let host = SessionHost(name) else { preconditionFailure("\(name) is not a host") }
        return host
    }

    /// Begins a session.
    func begin(
        _ name: String = "ann",
        realm: String = "town",
        groups: [String] = ["Staff"],
        at host: SessionHost = SessionFixture.host,
        stamp: SecurityStamp? = nil,
        until end: Int? = nil,
        since epoch: RevocationEpoch? = nil,
        replacing replaced: Session? = nil
    ) async throws -> (session: Session, token: OpaqueToken) {
        try await table.begin(
            try await identity(name, realm: realm, groups: groups),
            at: host,
            from: SessionClient(address: "192.0.2.7", userAgent: "tests"),
            stamp: stamp,
            until: end,
            since: epoch ?? table.revocationEpoch(),
            replacing: replaced
        )
    }

    /// Signs a user in.
    func identity(
        _ name: String,
        realm: String = "town",
        groups: [String] = ["Staff"]
    ) async throws -> AuthenticatedIdentity {
        let stack = LoginStack(name: "s", [.init(Friendly(groups: groups), .required)], clock: ManualClock())
        let request = LoginRequest(realm: realm, username: try Username(name))
        let report = await stack.login(request, asking: PreparedConversation(password: Secret(utf8: "x")))
        return try #require(report.identity)
    }

    func user(_ name: String, realm: String = "town", groups: [String] = []) throws -> SignedInUser {
        SignedInUser(realm: realm, username: try Username(name), groups: groups)
    }

    /// Advances both clocks.
    func pass(_ seconds: Int) {
        clock.advance(by: .seconds(seconds))
        wall.move(by: seconds)
    }

    /// Runs the background loops of the table, calls `body` when they sleep, and stops them afterwards.
    func running(_ body: () async throws -> Void) async rethrows {
        let task = Task { await table.run { [errors] in errors.add($0.message) } }
        await untilAsleep()
        try await body()
        task.cancel()
        await task.value
    }

    /// Advances both clocks by a second and waits until the background loops sleep again.
    func second() async {
        await untilAsleep()
        pass(1)
        await untilAsleep()
    }

    private func untilAsleep() async { await clock.untilAsleep(table.store == nil ? 1 : 2) }

    /// Returns the table of the server after a restart, with a new monotonic clock.
    func next(
        store: any SessionStore,
        after seconds: Int = 1,
        _ change: (inout SessionSettings) -> Void = { _ in }
    ) -> SessionFixture {
        wall.move(by: seconds)
        return SessionFixture(change, store: store, clock: ManualClock(now: 5_000_000_000), wall: wall)
    }
}

/// Accepts every user.
private struct Friendly: LoginModule {
    private let groups: [String]

    init(groups: [String]) { self.groups = groups }

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { groups = [] }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        attempt.commit(groups: groups)
    }
}

/// A wall clock that can be set.
final class ManualWallClock: Sendable {
    private let time = Mutex(1_800_000_000)

    var now: Int { time.withLock { $0 } }

    func move(by seconds: Int) { time.withLock { $0 += seconds } }
}

/// A thread-safe list of recorded entries.
final class Recorder<Entry: Sendable>: Sendable {
    private let entries = Mutex<[Entry]>([])

    var all: [Entry] { entries.withLock { $0 } }

    func add(_ entry: Entry) { entries.withLock { $0.append(entry) } }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Synchronization
import Testing

@testable import Sessions

/// A table of sessions, with clocks that stand still.
final class House: Sendable {
    let clock: ManualClock
    let wall: HandWall
    let table: SessionTable
    let ends = Notes<String>()
    let errors = Notes<String>()

    init(
        _ change: (inout SessionSettings) -> Void = { _ in },
        store: (any SessionStore)? = nil,
        clock: ManualClock = ManualClock(now: 1_000_000_000_000),
        wall: HandWall = HandWall()
    ) {
        var settings = SessionSettings()
        change(&settings)
        self.clock = clock
        self.wall = wall
        let ends = ends
        table = SessionTable(
            settings,
            store: store,
            clock: clock,
            wall: WallClock { wall.now },
            onEnd: { session, cause in ends.add("\(session.user.username): \(cause.rawValue)") }
        )
    }

    /// Begins a session.
    func begin(
        _ name: String = "ann",
        realm: String = "town",
        groups: [String] = ["Staff"],
        stamp: UserStamp? = nil,
        since mark: SessionMark? = nil,
        replacing replaced: Session? = nil
    ) async throws -> (session: Session, token: OpaqueToken) {
        try await table.begin(
            try user(name, realm: realm, groups: groups),
            nil,
            SessionClient(address: "192.0.2.7", userAgent: "tests"),
            stamp: stamp,
            since: mark ?? table.mark(),
            replacing: replaced
        )
    }

    func user(_ name: String, realm: String = "town", groups: [String] = []) throws -> SignedInUser {
        SignedInUser(realm: realm, username: try Username(name), groups: groups)
    }

    /// Moves both clocks.
    func pass(_ seconds: Int) {
        clock.advance(by: .seconds(seconds))
        wall.move(by: seconds)
    }

    /// Runs the table while something is done, from rest to rest.
    func running(_ body: () async throws -> Void) async rethrows {
        let task = Task { await table.run { [errors] in errors.add($0.message) } }
        await untilResting()
        try await body()
        task.cancel()
        await task.value
    }

    /// Lets a second pass, and all that is done in it.
    func second() async {
        await untilResting()
        pass(1)
        await untilResting()
    }

    private func untilResting() async { await clock.untilAsleep(table.store == nil ? 1 : 2) }

    /// A server that follows this one, with another clock.
    func next(
        store: any SessionStore,
        after seconds: Int = 1,
        _ change: (inout SessionSettings) -> Void = { _ in }
    ) -> House {
        wall.move(by: seconds)
        return House(change, store: store, clock: ManualClock(now: 5_000_000_000), wall: wall)
    }
}

/// A wall clock that can be set.
final class HandWall: Sendable {
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

// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import TestTools
import Testing

@testable import Throttle

struct StoreTests {
    private static let ann = ThrottleKey.account(Account(realm: "town", key: "ann"))

    @Test func `failures and locks survive a restart`() async throws {
        let store = MemoryStore()
        let before = try ThrottleFixture({ $0.failures = 3 }, store: store)
        try await before.fail("ann", 3)
        try await before.fail("bob", 2)
        try await before.throttle.flush()
        #expect(Set(store.records.map { "\($0.key) \($0.failures)" }) == ["ann@town 3", "bob@town 2", "192.0.2.7 5"])

        // The machine was rebooted: the monotonic clock starts from zero, and the wall clock is a minute later.
        let after = try ThrottleFixture(
            { $0.failures = 3 },
            store: store,
            clock: ManualClock(now: 5),
            wall: before.wall
        )
        after.wall.move(by: 60)
        try await after.throttle.restore()
        #expect(after.throttle.lockouts.map(\.key) == [Self.ann])
        #expect(after.throttle.lockouts.map(\.end) == before.throttle.lockouts.map { $0.end - 60 })
        #expect(try await after.answer("ann", "right") == "locked")
        try await after.fail("bob")
        #expect(try await after.answer("bob", "right") == "locked")
        after.clock.advance(by: .seconds(840))
        #expect(try await after.answer("ann", "right") == "in")
    }

    @Test func `expired, cleared and evicted records are removed from the store`() async throws {
        let store = MemoryStore()
        let fixture = try ThrottleFixture({ $0.failures = 3 }, store: store)
        try await fixture.fail("ann", 2, from: nil)
        try await fixture.throttle.flush()
        #expect(store.records.count == 1)
        _ = try await fixture.answer("ann", "right", from: nil)
        try await fixture.throttle.flush()
        #expect(store.records.isEmpty)
        try await fixture.fail("bob", 1, from: nil)
        try await fixture.throttle.flush()
        fixture.clock.advance(by: .seconds(2000))
        try await fixture.fail("cid", 1, from: nil)
        try await fixture.throttle.flush()
        #expect(store.records.map { "\($0.key)" } == ["cid@town"])
    }

    @Test func `nothing is saved if nothing has changed`() async throws {
        let store = MemoryStore()
        let fixture = try ThrottleFixture(store: store)
        try await fixture.fail("ann")
        for _ in 0..<5 { try await fixture.throttle.flush() }
        #expect(store.saves == 1)
    }

    @Test func `resets of one account and of all accounts by another program are applied`() async throws {
        let store = MemoryStore()
        let fixture = try ThrottleFixture({ $0.failures = 2 }, store: store)
        for name in ["ann", "bob", "cid"] { try await fixture.fail(name, 2) }
        try await fixture.throttle.flush()
        try await store.clear(.one(Self.ann))
        #expect(try await fixture.answer("ann", "right") == "locked")
        try await fixture.throttle.flush()
        #expect(try await fixture.answer("ann", "right") == "in")
        #expect(try await fixture.answer("bob", "right") == "locked")
        try await store.clear(.all)
        try await fixture.throttle.flush()
        #expect(fixture.throttle.lockouts.isEmpty)
        #expect(try await fixture.answer("bob", "right") == "in")
        #expect(store.records.isEmpty)
        // A reset applies once: later failures count.
        try await fixture.fail("ann", 2)
        try await fixture.throttle.flush()
        try await fixture.throttle.flush()
        #expect(store.records.contains { $0.key == Self.ann && $0.lockEnd != nil })
    }

    @Test func `resets that were stored before a restart are not applied again`() async throws {
        let store = MemoryStore()
        let before = try ThrottleFixture({ $0.failures = 2 }, store: store)
        try await store.clear(.all)
        try await before.throttle.flush()
        try await before.fail("ann", 2)
        try await before.throttle.flush()
        let after = try ThrottleFixture({ $0.failures = 2 }, store: store)
        try await after.throttle.restore()
        try await after.throttle.flush()
        #expect(after.throttle.lockouts.count == 1)
    }

    @Test func `changes are kept while the store fails, and saved later`() async throws {
        let store = MemoryStore()
        let fixture = try ThrottleFixture({ $0.failures = 2 }, store: store)
        try await fixture.fail("ann", 2)
        store.setBroken(true)
        await #expect(throws: ThrottleStoreError("the disk is full")) { try await fixture.throttle.flush() }
        #expect(try await fixture.answer("ann", "right") == "locked")
        fixture.throttle.clear(.all)
        try await fixture.fail("bob", 2)
        await #expect(throws: ThrottleStoreError.self) { try await fixture.throttle.flush() }
        store.setBroken(false)
        try await fixture.throttle.flush()
        #expect(Set(store.records.map { "\($0.key)" }) == ["bob@town", "192.0.2.7"])
    }

    @Test func `many changes are saved in batches`() async throws {
        let store = MemoryStore()
        let fixture = try ThrottleFixture({ $0.sourceFailures = 0 }, store: store)
        for number in 0..<2500 { try await fixture.fail("user\(number)", from: nil) }
        try await fixture.throttle.flush()
        #expect(store.saves == 3)
        #expect(store.records.count == 2500)
    }

    @Test func `setting the wall clock back extends no lock`() async throws {
        let store = MemoryStore()
        let before = try ThrottleFixture({ $0.failures = 2 }, store: store)
        try await before.fail("ann", 2)
        try await before.throttle.flush()
        let after = try ThrottleFixture({ $0.failures = 2 }, store: store)
        after.wall.move(by: -10_000_000)
        try await after.throttle.restore()
        #expect(try await after.answer("ann", "right") == "locked")
        after.clock.advance(by: .seconds(900))
        #expect(try await after.answer("ann", "right") == "in")
    }

    @Test(arguments: [(-10_000_000, 900), (0, 60)])
    func `a lock from the future, or longer than the settings, begins once and not at every restart`(
        jump: Int,
        lock: Int
    ) async throws {
        let store = MemoryStore()
        let before = try ThrottleFixture({ $0.failures = 2 }, store: store)
        try await before.fail("ann", 2)
        try await before.throttle.flush()
        func next(_ wall: WallClock) throws -> ThrottleFixture {
            try ThrottleFixture(
                {
                    $0.failures = 2
                    $0.lock = .seconds(lock)
                },
                store: store,
                wall: wall
            )
        }
        let after = try next(before.wall)
        after.wall.move(by: jump)
        try await after.throttle.restore()
        #expect(try await after.answer("ann", "right") == "locked")
        try await after.throttle.flush()
        let last = try next(after.wall)
        last.wall.move(by: lock + 1)
        try await last.throttle.restore()
        #expect(try await last.answer("ann", "right") == "in")
    }

    @Test func `failures from the future count once, and not at every restart`() async throws {
        let store = MemoryStore()
        let before = try ThrottleFixture({ $0.failures = 3 }, store: store)
        try await before.fail("ann", 2)
        try await before.throttle.flush()
        for failures in [2, 0] {
            let next = try ThrottleFixture({ $0.failures = 3 }, store: store, wall: before.wall)
            next.wall.move(by: failures == 2 ? -10_000_000 : 2000)
            try await next.throttle.restore()
            #expect(next.failures(of: "ann") == failures)
            try await next.throttle.flush()
        }
    }

    @Test(arguments: [7200, -7200])
    func `setting the wall clock shortens no lock`(jump: Int) async throws {
        let store = MemoryStore()
        let before = try ThrottleFixture({ $0.failures = 2 }, store: store)
        try await before.fail("ann", 2)
        try await before.throttle.flush()
        before.wall.move(by: jump)
        #expect(try await before.answer("ann", "right") == "locked")
        try await before.throttle.flush()
        let after = try ThrottleFixture({ $0.failures = 2 }, store: store, wall: before.wall)
        try await after.throttle.restore()
        #expect(try await after.answer("ann", "right") == "locked")
        #expect(after.throttle.lockouts.map(\.end) == [before.wall.now + 900])
    }

    @Test func `a record with impossible times locks for no longer than the lock time of the settings`() async throws {
        let times = [Int.min, -1, 0, 1_800_000_000, Int.max]
        let store = MemoryStore()
        for newest in times {
            for lockEnd in times.map(Int?.some) + [nil] {
                store.put(
                    ThrottleRecord(
                        .account(Account(realm: "town", key: "user \(newest) \(lockEnd ?? 7)")),
                        failures: lockEnd ?? .max,
                        newest: newest,
                        lockEnd: lockEnd,
                        expiry: 0
                    )
                )
            }
        }
        let fixture = try ThrottleFixture({ $0.failures = 2 }, store: store)
        try await fixture.throttle.restore()
        #expect(fixture.throttle.lockouts.allSatisfy { $0.end <= fixture.wall.now + 900 })
        fixture.clock.advance(by: .seconds(900))
        #expect(fixture.throttle.lockouts.isEmpty)
        try await fixture.throttle.flush()
    }

    @Test func `a lower limit does not lock accounts without a further failure`() async throws {
        let store = MemoryStore()
        let before = try ThrottleFixture({ $0.failures = 10 }, store: store)
        try await before.fail("ann", 8, from: nil)
        try await before.throttle.flush()
        let after = try ThrottleFixture({ $0.failures = 3 }, store: store)
        try await after.throttle.restore()
        #expect(try await after.answer("ann", "right") == "in")
    }

    @Test func `a lock is stored at once, and a failure after the interval or at cancellation`() async throws {
        let store = MemoryStore()
        let fixture = try ThrottleFixture({ $0.failures = 2 }, store: store)
        let run = Task { await fixture.throttle.run(every: .milliseconds(250)) { _ in } }
        await fixture.clock.untilAsleep()
        try await fixture.fail("ann", from: nil)
        #expect(store.records.isEmpty)
        try await fixture.fail("ann", from: nil)
        try await Waiting.until { !store.records.isEmpty }
        try await fixture.fail("bob", from: nil)
        try await Waiting.until {
            fixture.clock.advance(by: .milliseconds(250))
            return store.records.count >= 2
        }
        try await fixture.fail("cid", from: nil)
        run.cancel()
        await run.value
        #expect(store.records.count == 3)
    }
}

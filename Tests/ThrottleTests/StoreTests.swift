// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Testing

@testable import Throttle

struct StoreTests {
    private static let ann = ThrottleKey.account(Account(realm: "town", key: "ann"))

    @Test func `failures and locks survive a restart`() async throws {
        let store = MemoryStore()
        let before = try House({ $0.failures = 3 }, store: store)
        try await before.fail("ann", 3)
        try await before.fail("bob", 2)
        try await before.throttle.flush()
        #expect(Set(store.records.map { "\($0.key) \($0.failures)" }) == ["ann@town 3", "bob@town 2", "192.0.2.7 5"])

        // Another boot: the clock begins anew, a minute of the wall has gone by.
        let after = try House({ $0.failures = 3 }, store: store, clock: ManualClock(now: 5), wall: before.wall)
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

    @Test func `what is over, cleared or pushed out is removed from the store`() async throws {
        let store = MemoryStore()
        let house = try House({ $0.failures = 3 }, store: store)
        try await house.fail("ann", 2, from: nil)
        try await house.throttle.flush()
        #expect(store.records.count == 1)
        _ = try await house.answer("ann", "right", from: nil)
        try await house.throttle.flush()
        #expect(store.records.isEmpty)
        try await house.fail("bob", 1, from: nil)
        try await house.throttle.flush()
        house.clock.advance(by: .seconds(2000))
        try await house.fail("cid", 1, from: nil)
        try await house.throttle.flush()
        #expect(store.records.map { "\($0.key)" } == ["cid@town"])
    }

    @Test func `nothing is saved where nothing has changed`() async throws {
        let store = MemoryStore()
        let house = try House(store: store)
        try await house.fail("ann")
        for _ in 0..<5 { try await house.throttle.flush() }
        #expect(store.saves == 1)
    }

    @Test func `a clearance by another program is noticed, of one and of all`() async throws {
        let store = MemoryStore()
        let house = try House({ $0.failures = 2 }, store: store)
        for name in ["ann", "bob", "cid"] { try await house.fail(name, 2) }
        try await house.throttle.flush()
        try await store.clear(.one(Self.ann))
        #expect(try await house.answer("ann", "right") == "locked")
        try await house.throttle.flush()
        #expect(try await house.answer("ann", "right") == "in")
        #expect(try await house.answer("bob", "right") == "locked")
        try await store.clear(.all)
        try await house.throttle.flush()
        #expect(house.throttle.lockouts.isEmpty)
        #expect(try await house.answer("bob", "right") == "in")
        #expect(store.records.isEmpty)
        // It is done once: what fails after it counts.
        try await house.fail("ann", 2)
        try await house.throttle.flush()
        try await house.throttle.flush()
        #expect(store.records.contains { $0.key == Self.ann && $0.lockEnd != nil })
    }

    @Test func `clearances from before a restart are not done again`() async throws {
        let store = MemoryStore()
        let before = try House({ $0.failures = 2 }, store: store)
        try await store.clear(.all)
        try await before.throttle.flush()
        try await before.fail("ann", 2)
        try await before.throttle.flush()
        let after = try House({ $0.failures = 2 }, store: store)
        try await after.throttle.restore()
        try await after.throttle.flush()
        #expect(after.throttle.lockouts.count == 1)
    }

    @Test func `a store that fails loses nothing`() async throws {
        let store = MemoryStore()
        let house = try House({ $0.failures = 2 }, store: store)
        try await house.fail("ann", 2)
        store.breaks(true)
        await #expect(throws: ThrottleStoreError("the disk is full")) { try await house.throttle.flush() }
        #expect(try await house.answer("ann", "right") == "locked")
        house.throttle.clear(.all)
        try await house.fail("bob", 2)
        await #expect(throws: ThrottleStoreError.self) { try await house.throttle.flush() }
        store.breaks(false)
        try await house.throttle.flush()
        #expect(Set(store.records.map { "\($0.key)" }) == ["bob@town", "192.0.2.7"])
    }

    @Test func `many changes are saved a batch at a time`() async throws {
        let store = MemoryStore()
        let house = try House({ $0.sourceFailures = 0 }, store: store)
        for number in 0..<2500 { try await house.fail("user\(number)", from: nil) }
        try await house.throttle.flush()
        #expect(store.saves == 3)
        #expect(store.records.count == 2500)
    }

    @Test func `a wall clock that was set back locks nobody for longer than locks last`() async throws {
        let store = MemoryStore()
        let before = try House({ $0.failures = 2 }, store: store)
        try await before.fail("ann", 2)
        try await before.throttle.flush()
        let after = try House({ $0.failures = 2 }, store: store)
        after.wall.move(by: -10_000_000)
        try await after.throttle.restore()
        #expect(try await after.answer("ann", "right") == "locked")
        after.clock.advance(by: .seconds(900))
        #expect(try await after.answer("ann", "right") == "in")
    }

    @Test(arguments: [7200, -7200])
    func `a wall clock that is set while the server runs unlocks nobody early`(jump: Int) async throws {
        let store = MemoryStore()
        let before = try House({ $0.failures = 2 }, store: store)
        try await before.fail("ann", 2)
        try await before.throttle.flush()
        before.wall.move(by: jump)
        #expect(try await before.answer("ann", "right") == "locked")
        try await before.throttle.flush()
        let after = try House({ $0.failures = 2 }, store: store, wall: before.wall)
        try await after.throttle.restore()
        #expect(try await after.answer("ann", "right") == "locked")
        #expect(after.throttle.lockouts.map(\.end) == [before.wall.now + 900])
    }

    @Test func `records from nowhere do no harm`() async throws {
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
        let house = try House({ $0.failures = 2 }, store: store)
        try await house.throttle.restore()
        #expect(house.throttle.lockouts.allSatisfy { $0.end <= house.wall.now + 900 })
        house.clock.advance(by: .seconds(900))
        #expect(house.throttle.lockouts.isEmpty)
        try await house.throttle.flush()
    }

    @Test func `with a lower limit than before, what was counted does not lock by itself`() async throws {
        let store = MemoryStore()
        let before = try House({ $0.failures = 10 }, store: store)
        try await before.fail("ann", 8, from: nil)
        try await before.throttle.flush()
        let after = try House({ $0.failures = 3 }, store: store)
        try await after.throttle.restore()
        #expect(try await after.answer("ann", "right") == "in")
    }

    @Test func `a lock is stored at once, the rest a little later, and what is left at the end`() async throws {
        let store = MemoryStore()
        let house = try House({ $0.failures = 2 }, store: store)
        let run = Task { await house.throttle.run(every: .milliseconds(250)) { _ in } }
        await house.clock.untilAsleep()
        try await house.fail("ann", from: nil)
        #expect(store.records.isEmpty)
        try await house.fail("ann", from: nil)
        while store.records.isEmpty { await Task.yield() }
        try await house.fail("bob", from: nil)
        while store.records.count < 2 {
            house.clock.advance(by: .milliseconds(250))
            await Task.yield()
        }
        try await house.fail("cid", from: nil)
        run.cancel()
        await run.value
        #expect(store.records.count == 3)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Testing

@testable import Sessions

/// What a store is told, and what becomes of a table whose store fails.
struct StoringTests {
    @Test func `uses are stored every 15 seconds, and when the server stops`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let (session, token) = try await house.begin()
        _ = try await house.begin("bob")
        let begin = house.wall.now
        await house.running {
            for _ in 0..<15 {
                #expect(store.touches == 0)
                await house.second()
                _ = house.table.session(token, isActivity: true)
            }
            await house.second()
            #expect(store.touches == 1)
            _ = house.table.session(token, isActivity: true)
        }
        #expect(store.touches == 2)
        let record = try #require(store.records.first { $0.id == session.id })
        #expect([record.lastSeen, record.idleExpiry] == [begin + 16, begin + 16 + 1800])
        #expect(record.absoluteExpiry == begin + 43_200)
        #expect(record.created == begin)
    }

    @Test func `what the store cannot forget it is asked to every second, and it is said once`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let (ann, token) = try await house.begin("ann")
        let (_, other) = try await house.begin("bob")
        await house.running {
            store.breaks(true)
            await house.table.end(ann, .logout)
            #expect(house.table.session(token, isActivity: true) == nil)
            house.table.end(.userChanged) { $0.user.username.text == "bob" }
            #expect(house.table.session(other, isActivity: true) == nil)
            for _ in 0..<3 { await house.second() }
            #expect(store.records.count == 2)
            #expect(house.errors.all == ["the disk is full"])
            store.breaks(false)
            await house.second()
            #expect(store.records.isEmpty)
            store.breaks(true)
            await house.second()
            #expect(house.errors.all.count == 2)
            store.breaks(false)
        }
    }

    @Test func `uses that could not be stored are stored later`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let (session, token) = try await house.begin()
        house.pass(10)
        _ = house.table.session(token, isActivity: true)
        store.breaks(true)
        await #expect(throws: SessionStoreError.self) { try await house.table.storeTouches() }
        store.breaks(false)
        try await house.table.storeTouches()
        #expect(store.records.map(\.lastSeen) == [session.lastSeen])
        #expect(store.touches == 1)
        try await house.table.storeTouches()
        #expect(store.touches == 1)
    }

    @Test func `a clock that is set has all times stored anew`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let (session, _) = try await house.begin()
        try await house.table.storeTouches()
        house.wall.move(by: -7200)
        try await house.table.storeTouches()
        #expect(store.records.map(\.absoluteExpiry) == [session.absoluteExpiry])
        #expect(store.touches == 1)
    }

    @Test func `sessions that another program ends are ended within a second`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let ann = try await house.begin("ann").session
        let other = try await house.begin("ann").session
        let bob = try await house.begin("bob").session
        let far = try await house.begin("ann", realm: "city").session
        let last = try await house.begin("cy", realm: "dale").session
        let events = try house.table.events(of: bob, after: nil)
        try await house.running {
            _ = try await store.orderSessions(.end(.one(ann.id)))
            _ = try await store.orderSessions(.message(.user(realm: "town", name: try Username("bob")), "hello"))
            await house.second()
            #expect([ann.end, other.end, bob.end, far.end] == [.administrator, nil, nil, nil])
            _ = try await store.orderSessions(.end(.user(realm: "town", name: try Username("ann"))))
            await house.second()
            #expect([other.end, bob.end, far.end] == [.administrator, nil, nil])
            let mark = house.table.mark()
            _ = try await store.orderSessions(.end(.realm("town")))
            await house.second()
            #expect([bob.end, far.end] == [.administrator, nil])
            await #expect(throws: SessionFault.changedMeanwhile) { _ = try await house.begin("dan", since: mark) }
            _ = try await house.begin("dan", realm: "city", since: mark)
            _ = try await store.orderSessions(.end(.realm("city")))
            await house.second()
            #expect([far.end, last.end] == [.administrator, nil])
            _ = try await store.orderSessions(.end(.all))
            await house.second()
            #expect(last.end == .administrator)
        }
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next()?.event == .message("hello"))
        #expect(await iterator.next()?.event == .ended(.administrator))
    }

    @Test func `orders that are not known any more may have been to end anything`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let (session, _) = try await house.begin()
        for _ in 0..<3 { _ = try await store.orderSessions(.message(.all, "x")) }
        try await house.table.settle()
        #expect(session.end == nil)
        for _ in 0..<3 { _ = try await store.orderSessions(.message(.all, "x")) }
        store.dropOrders(4)
        try await house.table.settle()
        #expect(session.end == .administrator)
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

@testable import Sessions

/// Tests of the calls of the store, and of failing stores.
struct StoringTests {
    @Test func `the times of uses are stored every 15 seconds and when the server stops`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let (session, token) = try await fixture.begin()
        _ = try await fixture.begin("bob")
        let begin = fixture.wall.now
        await fixture.running {
            for _ in 0..<15 {
                #expect(store.touches == 0)
                await fixture.second()
                _ = fixture.table.session(token, at: SessionFixture.host, isActivity: true)
            }
            await fixture.second()
            #expect(store.touches == 1)
            _ = fixture.table.session(token, at: SessionFixture.host, isActivity: true)
        }
        #expect(store.touches == 2)
        let record = try #require(store.records.first { $0.id == session.id })
        #expect([record.lastSeen, record.idleExpiry] == [begin + 16, begin + 16 + 1800])
        #expect(record.absoluteExpiry == begin + 43_200)
        #expect(record.created == begin)
    }

    @Test func `a failed removal is repeated every second and reported once`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let (ann, token) = try await fixture.begin("ann")
        let (_, other) = try await fixture.begin("bob")
        await fixture.running {
            store.setFailing(true)
            await #expect(throws: SessionFault.self) { try await fixture.table.end(ann, cause: .logout) }
            #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
            fixture.table.end(.userChanged) { $0.user.username.text == "bob" }
            #expect(fixture.table.session(other, at: SessionFixture.host, isActivity: true) == nil)
            for _ in 0..<3 { await fixture.second() }
            #expect(store.records.count == 2)
            #expect(fixture.errors.all == ["the disk is full"])
            store.setFailing(false)
            await fixture.second()
            #expect(store.records.isEmpty)
            store.setFailing(true)
            await fixture.second()
            #expect(fixture.errors.all.count == 2)
            store.setFailing(false)
        }
    }

    @Test func `the times of uses that could not be stored are stored later`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let (session, token) = try await fixture.begin()
        fixture.pass(10)
        _ = fixture.table.session(token, at: SessionFixture.host, isActivity: true)
        store.setFailing(true)
        await #expect(throws: SessionStoreError.self) { try await fixture.table.storeTouches() }
        store.setFailing(false)
        try await fixture.table.storeTouches()
        #expect(store.records.map(\.lastSeen) == [session.lastSeen])
        #expect(store.touches == 1)
        try await fixture.table.storeTouches()
        #expect(store.touches == 1)
    }

    @Test func `all times are stored again after the wall clock is set`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let (session, _) = try await fixture.begin()
        try await fixture.table.storeTouches()
        fixture.wall.move(by: -7200)
        try await fixture.table.storeTouches()
        #expect(store.records.map(\.absoluteExpiry) == [session.absoluteExpiry])
        #expect(store.touches == 1)
    }

    @Test func `commands of other programs end sessions and send messages within a second`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let ann = try await fixture.begin("ann").session
        let other = try await fixture.begin("ann").session
        let bob = try await fixture.begin("bob").session
        let far = try await fixture.begin("ann", realm: "city").session
        let last = try await fixture.begin("cy", realm: "dale").session
        let events = try fixture.table.events(of: bob, after: nil)
        try await fixture.running {
            _ = try await store.storeCommand(.end(.one(ann.id)))
            _ = try await store.storeCommand(.message(.user(realm: "town", name: try Username("bob")), "hello"))
            await fixture.second()
            #expect([ann.end, other.end, bob.end, far.end] == [.administrator, nil, nil, nil])
            _ = try await store.storeCommand(.end(.user(realm: "town", name: try Username("ann"))))
            await fixture.second()
            #expect([other.end, bob.end, far.end] == [.administrator, nil, nil])
            let epoch = fixture.table.revocationEpoch()
            _ = try await store.storeCommand(.end(.realm("town")))
            await fixture.second()
            #expect([bob.end, far.end] == [.administrator, nil])
            await #expect(throws: SessionFault.changedMeanwhile) { _ = try await fixture.begin("dan", since: epoch) }
            _ = try await fixture.begin("dan", realm: "city", since: epoch)
            _ = try await store.storeCommand(.end(.realm("city")))
            await fixture.second()
            #expect([far.end, last.end] == [.administrator, nil])
            _ = try await store.storeCommand(.end(.all))
            await fixture.second()
            #expect(last.end == .administrator)
        }
        #expect(await events.next()?.event == .message("hello"))
        #expect(await events.next()?.event == .ended(.administrator))
    }

    @Test func `all sessions end if commands were deleted before the server read them`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let (session, _) = try await fixture.begin()
        for _ in 0..<3 { _ = try await store.storeCommand(.message(.all, "x")) }
        try await fixture.table.processCommandsAndRemovals()
        #expect(session.end == nil)
        for _ in 0..<3 { _ = try await store.storeCommand(.message(.all, "x")) }
        store.dropCommands(4)
        try await fixture.table.processCommandsAndRemovals()
        #expect(session.end == .administrator)
    }
}

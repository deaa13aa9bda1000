// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Testing

@testable import Sessions

/// How long sessions live, and by what they are found.
struct LifeTests {
    @Test func `a session is found by its token, its id and its user`() async throws {
        let house = House()
        let (session, token) = try await house.begin()
        let other = try await house.begin("bob")
        #expect(house.table.session(token, isActivity: true) === session)
        #expect(house.table.session(other.token, isActivity: true) === other.session)
        #expect(house.table.session(try OpaqueToken(), isActivity: true) == nil)
        #expect(house.table.session(id: session.id) === session)
        #expect(house.table.session(id: try SessionID()) == nil)
        #expect(house.table.sessions(of: try house.user("ann")).map(\.id) == [session.id])
        #expect(house.table.sessions(of: try house.user("ann", realm: "city")).isEmpty)
        #expect(house.table.sessions.count == 2)
        #expect(session.user.groups == ["Staff"])
        #expect(session.created == house.wall.now)
    }

    @Test func `it ends when nobody has used it for long enough, to the nanosecond, before the sweep`() async throws {
        let house = House { $0.idle = .seconds(100) }
        let (session, token) = try await house.begin()
        house.clock.advance(by: .seconds(100) - .nanoseconds(1))
        #expect(house.table.session(token, isActivity: false) === session)
        house.clock.advance(by: .nanoseconds(1))
        #expect(house.table.session(token, isActivity: true) == nil)
        #expect(house.table.session(id: session.id) == nil)
        #expect(house.table.sessions.isEmpty)
        #expect(house.table.sessions(of: session.user).isEmpty)
        #expect(session.end == nil)
        house.table.sweep()
        #expect(session.end == .idle)
        #expect(house.ends.all == ["ann: idle"])
        #expect(house.table.count == 0)
        house.table.sweep()
        #expect(house.ends.all.count == 1)
    }

    @Test func `use moves its end, polling does not, nothing moves the last end`() async throws {
        let house = House {
            $0.idle = .seconds(100)
            $0.absolute = .seconds(250)
        }
        let (session, token) = try await house.begin()
        let polled = try await house.begin("bob")
        for _ in 0..<4 {
            house.pass(60)
            house.table.sweep()
            #expect(house.table.session(token, isActivity: true) === session)
            _ = house.table.session(polled.token, isActivity: false)
        }
        #expect(polled.session.end == .idle)
        #expect(session.idleExpiry == session.absoluteExpiry)
        house.pass(9)
        house.table.refresh(session)
        house.table.sweep()
        #expect(house.table.session(token, isActivity: true) === session)
        house.pass(1)
        #expect(house.table.session(token, isActivity: true) == nil)
        house.table.refresh(session)
        house.table.sweep()
        #expect(session.end == .absolute)
        #expect(house.ends.all == ["bob: idle", "ann: absolute"])
    }

    @Test func `times are shown as the wall clock stands, and a clock that is set moves no end`() async throws {
        let house = House {
            $0.idle = .seconds(1000)
            $0.absolute = .seconds(5000)
            $0.warning = .seconds(100)
        }
        let (session, token) = try await house.begin()
        let begin = house.wall.now
        #expect([session.lastSeen, session.idleExpiry, session.absoluteExpiry] == [begin, begin + 1000, begin + 5000])
        #expect(session.warningTime == begin + 900)
        house.pass(300)
        house.table.refresh(session)
        #expect([session.lastSeen, session.idleExpiry] == [begin + 300, begin + 1300])
        house.wall.move(by: -3600)
        #expect(session.idleExpiry == begin + 1300 - 3600)
        house.clock.advance(by: .seconds(1000))
        #expect(house.table.session(token, isActivity: true) == nil)
    }

    @Test func `settings hold for new sessions and the next use of others`() async throws {
        let house = House { $0.idle = .seconds(1000) }
        let (session, token) = try await house.begin()
        var settings = house.table.settings
        settings.idle = .seconds(50)
        house.table.use(settings)
        house.pass(500)
        house.table.sweep()
        #expect(house.table.session(token, isActivity: true) === session)
        house.pass(49)
        house.table.sweep()
        #expect(session.end == nil)
        house.pass(1)
        house.table.sweep()
        #expect(session.end == .idle)
        let next = try await house.begin()
        house.pass(50)
        house.table.sweep()
        #expect(next.session.end == .idle)
    }

    @Test func `who is ended is found no more, and told of once`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let (session, token) = try await house.begin()
        #expect(store.records.count == 1)
        await house.table.end(session, .logout)
        #expect(store.records.isEmpty)
        #expect(house.table.session(token, isActivity: true) == nil)
        #expect(session.end == .logout)
        await house.table.end(session, .administrator)
        #expect(session.end == .logout)
        #expect(house.ends.all == ["ann: logout"])
    }

    @Test func `a client that has gone has still signed out`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let (session, _) = try await house.begin()
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            await house.table.end(session, .logout)
        }
        await task.value
        #expect(store.records.isEmpty)
    }

    @Test func `a new token takes the place of the old one`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let (session, token) = try await house.begin()
        #expect(session.cached(1) { "before" } == "before")
        #expect(session.cached(1) { "again" } == "before")
        let renewed = try await house.table.renew(session)
        #expect(house.table.session(token, isActivity: true) == nil)
        #expect(house.table.session(renewed, isActivity: true) === session)
        #expect(store.records.map(\.token) == [try renewed.digest()])
        #expect(session.cached(1) { "after" } == "after")
        await house.table.end(session, .logout)
        #expect(house.table.session(renewed, isActivity: true) == nil)
        await #expect(throws: SessionFault.ended) { _ = try await house.table.renew(session) }
    }

    @Test func `a token that cannot be stored replaces nothing, and two at once are not made`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let (session, token) = try await house.begin()
        store.breaks(true)
        await #expect(throws: SessionFault(.unavailable, "")) { _ = try await house.table.renew(session) }
        #expect(house.table.session(token, isActivity: true) === session)
        store.breaks(false)
        store.holds {
            store.holds(nil)
            await #expect(throws: SessionFault.busy) { _ = try await house.table.renew(session) }
        }
        let renewed = try await house.table.renew(session)
        #expect(house.table.session(renewed, isActivity: true) === session)
        #expect(house.table.session(token, isActivity: true) == nil)
    }

    @Test func `a session that ends while it gets a token has none`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let (session, _) = try await house.begin()
        store.holds {
            store.holds(nil)
            await house.table.end(session, .logout)
        }
        await #expect(throws: SessionFault.ended) { _ = try await house.table.renew(session) }
        #expect(store.records.isEmpty)
    }

    @Test func `what is made of a session is kept, by key and type, and not without bound`() async throws {
        let (session, _) = try await House().begin()
        #expect(session.cached(1) { 1 } == 1)
        #expect(session.cached(2) { session.cached(1) { 2 } + 10 } == 11)
        // Another type under the key takes its place.
        #expect(session.cached(1) { "text" } == "text")
        #expect(session.cached(1) { "other" } == "text")
        for key in 0..<100 { #expect(session.cached(key + 100) { key } == key) }
        let kept = (0..<100).filter { key in session.cached(key + 100) { -1 } == key }
        #expect(kept.count == 30)
    }
}

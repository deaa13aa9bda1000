// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

@testable import Sessions

/// Tests of finding sessions and of their lifetime.
struct LifetimeTests {
    @Test func `a session is found by its token, its id and its user`() async throws {
        let fixture = SessionFixture()
        let (session, token) = try await fixture.begin()
        let other = try await fixture.begin("bob")
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) === session)
        #expect(fixture.table.session(other.token, at: SessionFixture.host, isActivity: true) === other.session)
        #expect(fixture.table.session(try OpaqueToken(), at: SessionFixture.host, isActivity: true) == nil)
        #expect(fixture.table.session(id: session.id) === session)
        #expect(fixture.table.session(id: try SessionID()) == nil)
        #expect(fixture.table.sessions(of: try fixture.user("ann")).map(\.id) == [session.id])
        #expect(fixture.table.sessions(of: try fixture.user("ann", realm: "city")).isEmpty)
        #expect(fixture.table.sessions.count == 2)
        #expect(session.user.groups == ["Staff"])
        #expect(session.created == fixture.wall.now)
    }

    @Test func `an idle session expires at the exact nanosecond, even before the sweep`() async throws {
        let fixture = SessionFixture { $0.idle = .seconds(100) }
        let (session, token) = try await fixture.begin()
        fixture.clock.advance(by: .seconds(100) - .nanoseconds(1))
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: false) === session)
        fixture.clock.advance(by: .nanoseconds(1))
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
        #expect(fixture.table.session(id: session.id) == nil)
        #expect(fixture.table.sessions.isEmpty)
        #expect(fixture.table.sessions(of: session.user).isEmpty)
        #expect(session.end == nil)
        fixture.table.sweep()
        #expect(session.end == .idle)
        #expect(fixture.ends.all == ["ann: idle"])
        #expect(fixture.table.count == 0)
        fixture.table.sweep()
        #expect(fixture.ends.all.count == 1)
    }

    @Test func `a use extends the idle end, polling does not, and nothing extends the absolute end`() async throws {
        let fixture = SessionFixture {
            $0.idle = .seconds(100)
            $0.absolute = .seconds(250)
        }
        let (session, token) = try await fixture.begin()
        let polled = try await fixture.begin("bob")
        for _ in 0..<4 {
            fixture.pass(60)
            fixture.table.sweep()
            #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) === session)
            _ = fixture.table.session(polled.token, at: SessionFixture.host, isActivity: false)
        }
        #expect(polled.session.end == .idle)
        #expect(session.idleExpiry == session.absoluteExpiry)
        fixture.pass(9)
        fixture.table.refresh(session)
        fixture.table.sweep()
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) === session)
        fixture.pass(1)
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
        fixture.table.refresh(session)
        fixture.table.sweep()
        #expect(session.end == .absolute)
        #expect(fixture.ends.all == ["bob: idle", "ann: absolute"])
    }

    @Test func `displayed times follow the wall clock, but setting it does not change when a session ends`()
        async throws
    {
        let fixture = SessionFixture {
            $0.idle = .seconds(1000)
            $0.absolute = .seconds(5000)
            $0.warning = .seconds(100)
        }
        let (session, token) = try await fixture.begin()
        let begin = fixture.wall.now
        #expect([session.lastSeen, session.idleExpiry, session.absoluteExpiry] == [begin, begin + 1000, begin + 5000])
        #expect(session.warningTime == begin + 900)
        fixture.pass(300)
        fixture.table.refresh(session)
        #expect([session.lastSeen, session.idleExpiry] == [begin + 300, begin + 1300])
        fixture.wall.move(by: -3600)
        #expect(session.idleExpiry == begin + 1300 - 3600)
        fixture.clock.advance(by: .seconds(1000))
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
    }

    @Test func `new settings apply to new sessions at once and to existing sessions at their next use`() async throws {
        let fixture = SessionFixture { $0.idle = .seconds(1000) }
        let (session, token) = try await fixture.begin()
        var settings = fixture.table.settings
        settings.idle = .seconds(50)
        fixture.table.use(settings)
        fixture.pass(500)
        fixture.table.sweep()
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) === session)
        fixture.pass(49)
        fixture.table.sweep()
        #expect(session.end == nil)
        fixture.pass(1)
        fixture.table.sweep()
        #expect(session.end == .idle)
        let next = try await fixture.begin()
        fixture.pass(50)
        fixture.table.sweep()
        #expect(next.session.end == .idle)
    }

    @Test func `an ended session is not found, and its end is reported once`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let (session, token) = try await fixture.begin()
        #expect(store.records.count == 1)
        try await fixture.table.end(session, cause: .logout)
        #expect(store.records.isEmpty)
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
        #expect(session.end == .logout)
        try await fixture.table.end(session, cause: .administrator)
        #expect(session.end == .logout)
        #expect(fixture.ends.all == ["ann: logout"])
    }

    @Test func `a sign-out completes even if the client disconnects`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let (session, _) = try await fixture.begin()
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await fixture.table.end(session, cause: .logout)
        }
        try await task.value
        #expect(store.records.isEmpty)
    }

    @Test func `settings with extreme durations do not overflow the end of a session`() async throws {
        for longest in [Duration.seconds(Int64.max), .seconds(400 * 31_557_600), .seconds(18_446_744_073)] {
            let fixture = SessionFixture {
                $0.idle = longest
                $0.absolute = longest
                $0.warning = longest
            }
            let (session, token) = try await fixture.begin()
            #expect(session.times.idleEnd > session.times.lastSeen)
            #expect(session.times.absoluteEnd - session.times.lastSeen == UInt64(Int64.max))
            fixture.pass(100 * 31_557_600)
            fixture.table.sweep()
            #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) === session)
            #expect(session.times.idleEnd > session.times.lastSeen)
        }
    }

    @Test func `cached responses of a session are found by key and type, and their number is limited`() async throws {
        let (session, _) = try await SessionFixture().begin()
        func response<Value: Sendable>(_ key: Int, _ value: () -> Value) -> Value {
            session.responses.response(for: key) { CachedValue(value()) }.value
        }
        #expect(response(1) { 1 } == 1)
        #expect(response(2) { response(1) { 2 } + 10 } == 11)
        // A response of another type under the same key replaces it.
        #expect(response(1) { "text" } == "text")
        #expect(response(1) { "other" } == "text")
        for key in 0..<100 { #expect(response(key + 100) { key } == key) }
        let kept = (0..<100).filter { key in response(key + 100) { -1 } == key }
        #expect(kept.count == 30)
    }

    /// A value in a response cache.
    private final class CachedValue<Value: Sendable>: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }
}

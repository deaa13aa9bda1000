// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

@testable import Sessions

/// Tests of `SessionTable.begin`.
struct BeginningTests {
    @Test func `a session beyond the user's limit ends the user's least recently used session`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture({ $0.perUser = 3 }, store: store)
        var begun: [(session: Session, token: OpaqueToken)] = []
        for _ in 0..<3 {
            begun.append(try await fixture.begin())
            fixture.pass(1)
        }
        _ = try await fixture.begin("bob")
        _ = try await fixture.begin("ann", realm: "city")
        _ = fixture.table.session(begun[0].token, at: SessionFixture.host, isActivity: true)
        _ = fixture.table.session(begun[1].token, at: SessionFixture.host, isActivity: false)
        fixture.pass(1)
        let last = try await fixture.begin()
        #expect(fixture.ends.all == ["ann: limit"])
        #expect(begun.map(\.session.end) == [nil, .tooManySessions, nil])
        #expect(fixture.table.sessions(of: last.session.user).count == 3)
        #expect(store.records.count == 5)
    }

    @Test func `two names that differ in a byte belong to two users`() async throws {
        let fixture = SessionFixture { $0.perUser = 1 }
        let names = ["\u{e9}", "e\u{301}"]
        for name in names { _ = try await fixture.begin(name) }
        for name in names { _ = try await fixture.begin("ann", realm: name) }
        #expect(fixture.table.count == 4)
        for name in names { #expect(fixture.table.sessions(of: try fixture.user(name)).count == 1) }
    }

    @Test func `the total number of sessions is limited, and a replaced session frees its place`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(
            {
                $0.total = 3
                $0.perUser = 2
                $0.idle = .seconds(100)
            },
            store: store
        )
        let first = try await fixture.begin()
        _ = try await fixture.begin("bob")
        _ = try await fixture.begin("cy")
        await #expect(throws: SessionFault.full) { _ = try await fixture.begin("dan") }
        #expect(store.records.count == 3)
        let second = try await fixture.begin("ann", replacing: first.session)
        #expect(first.session.end == .replaced)
        await #expect(throws: SessionFault.full) { _ = try await fixture.begin("ann") }
        try await fixture.table.end(second.session, cause: .logout)
        _ = try await fixture.begin("cy")
        _ = try await fixture.begin("cy")
        #expect(fixture.ends.all == ["ann: replaced", "ann: logout", "cy: limit"])
        // Expired sessions do not count, even before a sweep.
        fixture.pass(100)
        _ = try await fixture.begin("eve")
        #expect(fixture.table.count == 1)
        try await fixture.table.processCommandsAndRemovals()
        #expect(store.records.map(\.user.username.text) == ["eve"])
    }

    @Test func `a replaced session ends and is removed from the store`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture({ $0.perUser = 1 }, store: store)
        let old = try await fixture.begin("ann")
        let new = try await fixture.begin("bob", replacing: old.session)
        #expect(fixture.table.session(old.token, at: SessionFixture.host, isActivity: true) == nil)
        #expect(store.records.map(\.id) == [new.session.id])
        let again = try await fixture.begin("cy", replacing: old.session)
        #expect(again.session.end == nil)
        #expect(fixture.ends.all == ["ann: replaced"])
    }

    @Test func `a session that cannot be stored does not begin, and the session it would replace continues`()
        async throws
    {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let old = try await fixture.begin()
        store.setFailing(true)
        await #expect(throws: SessionFault(.unavailable, "")) {
            _ = try await fixture.begin("ann", replacing: old.session)
        }
        #expect(fixture.table.count == 1)
        #expect(old.session.end == nil)
        store.setFailing(false)
        _ = try await fixture.begin()
        #expect(fixture.table.count == 2)
    }

    @Test func `if a user's sessions are revoked during logins, only the login of that user begins no session`()
        async throws
    {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let epoch = fixture.table.revocationEpoch()
        fixture.table.end(.userChanged) { $0.user.username.text == "ann" }
        await #expect(throws: SessionFault.changedMeanwhile) { _ = try await fixture.begin("ann", since: epoch) }
        #expect(store.records.isEmpty)
        #expect(fixture.table.count == 0)
        #expect(fixture.ends.all.isEmpty)
        _ = try await fixture.begin("bob", since: epoch)
        _ = try await fixture.begin("ann")
    }

    @Test func `a new session does not begin if it is revoked while it is stored`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let old = try await fixture.begin("bob")
        store.beforeSaving { fixture.table.end(.userChanged) { $0.user.username.text == "ann" } }
        await #expect(throws: SessionFault.changedMeanwhile) {
            _ = try await fixture.begin("ann", replacing: old.session)
        }
        #expect(store.records.map(\.id) == [old.session.id])
        #expect(old.session.end == nil)
    }

    @Test func `a login that began before the oldest kept revocation begins no session`() async throws {
        let fixture = SessionFixture()
        let epoch = fixture.table.revocationEpoch()
        for _ in 0..<RevocationLog<Session>.capacity { fixture.table.end(.userChanged) { _ in false } }
        _ = try await fixture.begin(since: epoch)
        fixture.table.end(.userChanged) { _ in false }
        await #expect(throws: SessionFault.changedMeanwhile) { _ = try await fixture.begin(since: epoch) }
    }

    @Test func `a session ends at its latest end, or when its account expires, even if it is used often`() async throws
    {
        for (end, expiry) in [(60, nil), (60, 3_600), (3_600, 60)] as [(Int, Int?)] {
            let fixture = SessionFixture()
            let now = fixture.wall.now
            let stamp = SecurityStamp([1], expiry: expiry.map { now + $0 })
            let (_, token) = try await fixture.begin(stamp: stamp, until: now + end)
            for _ in 0..<5 {
                fixture.pass(11)
                #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) != nil)
            }
            fixture.pass(6)
            #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
        }
        let fixture = SessionFixture()
        let (_, late) = try await fixture.begin(until: fixture.wall.now - 1)
        #expect(fixture.table.session(late, at: SessionFixture.host, isActivity: true) == nil)
    }

    @Test func `a session begins with the identity of a login`() async throws {
        let fixture = SessionFixture()
        let (session, _) = try await fixture.begin()
        #expect(session.user == (try fixture.user("ann", groups: ["Staff"])))
        #expect(session.identity?.username.text == "ann")
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

@testable import Sessions

/// Tests of restoring sessions after a restart.
struct RestoringTests {
    private let store = MemoryStore()
    private let stamp = SecurityStamp([1, 2, 3])

    /// Begins a session in one server and restores it in another.
    private func restored(
        stamp: SecurityStamp?,
        status: UserStatus,
        after seconds: Int = 1
    ) async throws -> (fixture: SessionFixture, token: OpaqueToken, id: SessionID) {
        let (session, token) = try await SessionFixture(store: store).begin(stamp: stamp)
        let fixture = SessionFixture(store: store).next(store: store, after: seconds)
        try await fixture.table.restore { _ in status }
        return (fixture, token, session.id)
    }

    @Test func `a session is restored after a restart`() async throws {
        let first = SessionFixture(store: store)
        let (session, token) = try await first.begin(groups: ["Staff", "Admin"], stamp: stamp)
        first.pass(100)
        _ = first.table.session(token, at: SessionFixture.host, isActivity: true)
        try await first.table.storeTouches()
        let next = first.next(store: store, after: 200)
        try await next.table.restore { user in
            #expect(user.username.text == "ann")
            return .user(.present(stamp))
        }
        let found = try #require(next.table.session(token, at: SessionFixture.host, isActivity: false))
        #expect(found.id == session.id)
        #expect(found.user == session.user)
        #expect(found.client == session.client)
        #expect(found.identity == nil)
        #expect(found.created == session.created)
        let begin = session.created
        #expect([found.lastSeen, found.idleExpiry] == [begin + 100, begin + 1900])
        #expect(found.absoluteExpiry == begin + 43_200)
        #expect(next.ends.all.isEmpty)
        next.clock.advance(by: .seconds(1600))
        #expect(next.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
    }

    @Test(arguments: [
        (SecurityStamp?.some(SecurityStamp([1])), UserStatus.user(.present(SecurityStamp([1]))), SessionEndCause?.none),
        (SecurityStamp([1]), .user(.present(SecurityStamp([2]))), .userChanged),
        (SecurityStamp([1]), .user(.gone), .userChanged),
        (SecurityStamp([1]), .user(.unknown), .userChanged),
        (SecurityStamp([1]), .realmGone, .realmGone),
        (nil, .user(.unknown), nil),
        (nil, .user(.gone), .userChanged),
        (nil, .user(.present(SecurityStamp([1]))), .userChanged),
        (nil, .realmGone, .realmGone),
    ])
    func `a session is restored only if its user is known to be unchanged`(
        stamp: SecurityStamp?,
        status: UserStatus,
        end: SessionEndCause?
    ) async throws {
        let (fixture, token, id) = try await restored(stamp: stamp, status: status)
        #expect((fixture.table.session(token, at: SessionFixture.host, isActivity: true)?.id == id) == (end == nil))
        #expect(fixture.ends.all == end.map { ["ann: \($0.rawValue)"] } ?? [])
        try await fixture.table.processCommandsAndRemovals()
        #expect(store.records.count == (end == nil ? 1 : 0))
    }

    @Test func `a use from the future counts as a use at the restart, and is stored so`() async throws {
        let first = SessionFixture(store: store)
        let (session, token) = try await first.begin(stamp: stamp)
        store.change(session.id) { record in
            record.lastSeen += 5000
            record.idleExpiry += 5000
        }
        let next = first.next(store: store, after: 100)
        try await next.table.restore { _ in .user(.present(stamp)) }
        #expect(next.table.session(token, at: SessionFixture.host, isActivity: false) != nil)
        try await next.table.storeTouches()
        #expect(store.records.map(\.lastSeen) == [next.wall.now])
        // Without a use, the session ends at its idle time, and a restart does not change that.
        let last = next.next(store: store, after: 1801)
        try await last.table.restore { _ in .user(.present(stamp)) }
        #expect(last.table.session(token, at: SessionFixture.host, isActivity: false) == nil)
    }

    @Test func `a shorter idle time begins once, and not at every restart`() async throws {
        let first = SessionFixture(store: store)
        let (_, token) = try await first.begin(stamp: stamp)
        func next(after seconds: Int) async throws -> Bool {
            let next = first.next(store: store, after: seconds) { $0.idle = .seconds(600) }
            try await next.table.restore { _ in .user(.present(stamp)) }
            try await next.table.storeTouches()
            return next.table.session(token, at: SessionFixture.host, isActivity: false) != nil
        }
        #expect(try await next(after: 400))
        #expect(try await next(after: 400))
        #expect(try await !next(after: 400))
    }

    @Test func `a session ends when its account expires, even if it is used often`() async throws {
        let fixture = SessionFixture()
        let (session, token) = try await fixture.begin(stamp: SecurityStamp([1], expiry: fixture.wall.now + 60))
        #expect(session.absoluteExpiry == fixture.wall.now + 60)
        for _ in 0..<5 {
            fixture.pass(11)
            #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) != nil)
        }
        fixture.pass(5)
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
        // If the account has already expired, a new session is never found.
        let (_, late) = try await fixture.begin(stamp: SecurityStamp([1], expiry: fixture.wall.now))
        #expect(fixture.table.session(late, at: SessionFixture.host, isActivity: true) == nil)
    }

    @Test func `a recheck ends the sessions of changed users and keeps the sessions of users that cannot be checked`()
        async throws
    {
        let fixture = SessionFixture()
        let (_, ann) = try await fixture.begin("ann", stamp: SecurityStamp([1]))
        let (_, bob) = try await fixture.begin("bob", stamp: SecurityStamp([1]))
        let (_, cat) = try await fixture.begin("cat", stamp: SecurityStamp([1]))
        let (_, far) = try await fixture.begin("dan", realm: "far", stamp: SecurityStamp([1]))
        await fixture.table.recheck(of: "town") { user in
            switch user.username.text {
            case "ann": .user(.present(SecurityStamp([1])))
            case "bob": .user(.unknown)
            default: .user(.present(SecurityStamp([2])))
            }
        }
        let left = [ann, bob, cat, far].map {
            fixture.table.session($0, at: SessionFixture.host, isActivity: false) != nil
        }
        #expect(left == [true, true, false, true])
        #expect(fixture.ends.all == ["cat: user-changed"])
    }

    @Test func `each session stores its stamp with its own salt`() async throws {
        let fixture = SessionFixture(store: store)
        for _ in 0..<2 { _ = try await fixture.begin(stamp: stamp) }
        let stamps = store.records.compactMap(\.stamp)
        #expect(Set(stamps).count == 2)
        #expect(Set(stamps.map(\.salt)).count == 2)
        #expect(try stamps.allSatisfy { try $0.matches(stamp) })
        #expect(try stamps.allSatisfy { try !$0.matches(SecurityStamp([1, 2])) })
        #expect("\(stamp)" == "user stamp")
        #expect(Mirror(reflecting: stamp).children.isEmpty)
    }

    @Test(arguments: [(1799, true), (1800, false), (-1, false), (50_000, false)])
    func `a session's time passes while no server runs`(seconds: Int, isLive: Bool) async throws {
        let first = SessionFixture(store: store)
        let (_, token) = try await first.begin()
        let next = first.next(store: store, after: seconds)
        try await next.table.restore { _ in .user(.unknown) }
        #expect((next.table.session(token, at: SessionFixture.host, isActivity: true) != nil) == isLive)
        #expect(next.ends.all.count == (isLive ? 0 : 1))
    }

    @Test func `a clock that was set back extends no session`() async throws {
        let first = SessionFixture({ $0.absolute = .seconds(2000) }, store: store)
        let (_, token) = try await first.begin()
        first.pass(1000)
        _ = first.table.session(token, at: SessionFixture.host, isActivity: true)
        try await first.table.storeTouches()
        let next = first.next(store: store, after: -900) { $0.absolute = .seconds(2000) }
        try await next.table.restore { _ in .user(.unknown) }
        let session = try #require(next.table.session(token, at: SessionFixture.host, isActivity: false))
        next.clock.advance(by: .seconds(999))
        next.table.refresh(session)
        #expect(next.table.session(token, at: SessionFixture.host, isActivity: true) === session)
        next.clock.advance(by: .seconds(1))
        #expect(next.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
    }

    @Test func `stricter settings apply to restored sessions`() async throws {
        let first = SessionFixture(store: store)
        let (_, token) = try await first.begin()
        let next = first.next(store: store, after: 60) {
            $0.idle = .seconds(30)
            $0.absolute = .seconds(70)
        }
        try await next.table.restore { _ in .user(.unknown) }
        #expect(next.table.session(token, at: SessionFixture.host, isActivity: true) != nil)
        next.clock.advance(by: .seconds(9))
        #expect(next.table.session(token, at: SessionFixture.host, isActivity: true) != nil)
        next.clock.advance(by: .seconds(1))
        #expect(next.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
        let last = first.next(store: store, after: 20) { $0.absolute = .seconds(70) }
        try await last.table.restore { _ in .user(.unknown) }
        #expect(last.table.count == 0)
    }

    @Test func `if too many sessions are stored, only the most recently used are restored`() async throws {
        let first = SessionFixture(store: store)
        var tokens: [OpaqueToken] = []
        for name in ["ann", "ann", "ann", "bob", "cy"] {
            tokens.append(try await first.begin(name).token)
            first.pass(1)
        }
        let next = first.next(store: store) {
            $0.perUser = 2
            $0.total = 3
        }
        try await next.table.restore { _ in .user(.unknown) }
        let live = tokens.map { next.table.session($0, at: SessionFixture.host, isActivity: false) != nil }
        #expect(live == [false, false, true, true, true])
        #expect(next.ends.all == ["ann: limit", "ann: limit"])
    }

    @Test func `a session whose user changes during the restore is not restored`() async throws {
        let (_, token) = try await SessionFixture(store: store).begin(stamp: stamp)
        let next = SessionFixture(store: store).next(store: store)
        try await next.table.restore { user in
            next.table.end(.userChanged) { $0.user.username == user.username }
            return .user(.present(stamp))
        }
        #expect(next.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
        #expect(next.ends.all == ["ann: user-changed"])
    }

    @Test func `an unreadable store is an error, and no session is restored`() async throws {
        let (_, token) = try await SessionFixture(store: store).begin()
        store.setFailing(true)
        let next = SessionFixture(store: store).next(store: store)
        await #expect(throws: SessionStoreError.self) { try await next.table.restore { _ in .user(.unknown) } }
        #expect(next.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
    }

    @Test func `a stored session with impossible times is ended, and the server continues`() async throws {
        for times in [(Int.min, Int.min, Int.min), (Int.max, Int.max, Int.max), (0, Int.max, Int.max), (Int.min, 0, 1)]
        {
            let (session, _) = try await SessionFixture(store: store).begin()
            let record = try #require(store.records.first { $0.id == session.id })
            store.put(
                SessionRecord(
                    record.id,
                    token: record.token,
                    user: record.user,
                    host: record.host,
                    client: record.client,
                    created: times.0,
                    lastSeen: times.0,
                    idleExpiry: times.1,
                    absoluteExpiry: times.2,
                    stamp: nil
                )
            )
            let next = SessionFixture(store: store).next(store: store)
            try await next.table.restore { _ in .user(.unknown) }
            #expect(next.table.count == 0)
            try await next.table.processCommandsAndRemovals()
            #expect(store.records.isEmpty)
        }
    }
}

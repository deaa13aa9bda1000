// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Testing

@testable import Sessions

/// Sessions that outlive a server.
struct RestoringTests {
    private let store = MemoryStore()
    private let stamp = UserStamp([1, 2, 3])

    /// Begins a session with one server and has another take it over.
    private func restored(
        stamp: UserStamp?,
        standing: UserStanding,
        after seconds: Int = 1
    ) async throws -> (house: House, token: OpaqueToken, id: SessionID) {
        let (session, token) = try await House(store: store).begin(stamp: stamp)
        let house = House(store: store).next(store: store, after: seconds)
        try await house.table.restore { _ in standing }
        return (house, token, session.id)
    }

    @Test func `a session goes on with the next server`() async throws {
        let first = House(store: store)
        let (session, token) = try await first.begin(groups: ["Staff", "Admin"], stamp: stamp)
        first.pass(100)
        _ = first.table.session(token, isActivity: true)
        try await first.table.storeTouches()
        let next = first.next(store: store, after: 200)
        try await next.table.restore { user in
            #expect(user.username.text == "ann")
            return .user(.present(stamp))
        }
        let found = try #require(next.table.session(token, isActivity: false))
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
        #expect(next.table.session(token, isActivity: true) == nil)
    }

    @Test(arguments: [
        (UserStamp?.some(UserStamp([1])), UserStanding.user(.present(UserStamp([1]))), SessionEnd?.none),
        (UserStamp([1]), .user(.present(UserStamp([2]))), .userChanged),
        (UserStamp([1]), .user(.gone), .userChanged),
        (UserStamp([1]), .user(.unknown), .userChanged),
        (UserStamp([1]), .realmGone, .realmGone),
        (nil, .user(.unknown), nil),
        (nil, .user(.gone), .userChanged),
        (nil, .user(.present(UserStamp([1]))), .userChanged),
        (nil, .realmGone, .realmGone),
    ])
    func `it goes on only if its user is known to be the same`(
        stamp: UserStamp?,
        standing: UserStanding,
        end: SessionEnd?
    ) async throws {
        let (house, token, id) = try await restored(stamp: stamp, standing: standing)
        #expect((house.table.session(token, isActivity: true)?.id == id) == (end == nil))
        #expect(house.ends.all == end.map { ["ann: \($0.rawValue)"] } ?? [])
        try await house.table.settle()
        #expect(store.records.count == (end == nil ? 1 : 0))
    }

    @Test func `a session ends with its account, however often it is used`() async throws {
        let house = House()
        let (session, token) = try await house.begin(stamp: UserStamp([1], expiry: house.wall.now + 60))
        #expect(session.absoluteExpiry == house.wall.now + 60)
        for _ in 0..<5 {
            house.pass(11)
            #expect(house.table.session(token, isActivity: true) != nil)
        }
        house.pass(5)
        #expect(house.table.session(token, isActivity: true) == nil)
        // One that has ended already is nobody's.
        let (_, late) = try await house.begin(stamp: UserStamp([1], expiry: house.wall.now))
        #expect(house.table.session(late, isActivity: true) == nil)
    }

    @Test func `a look at users ends what has changed, and leaves alone what nobody can tell`() async throws {
        let house = House()
        let (_, ann) = try await house.begin("ann", stamp: UserStamp([1]))
        let (_, bob) = try await house.begin("bob", stamp: UserStamp([1]))
        let (_, cat) = try await house.begin("cat", stamp: UserStamp([1]))
        let (_, far) = try await house.begin("dan", realm: "far", stamp: UserStamp([1]))
        await house.table.recheck(of: "town") { user in
            switch user.username.text {
            case "ann": .user(.present(UserStamp([1])))
            case "bob": .user(.unknown)
            default: .user(.present(UserStamp([2])))
            }
        }
        let left = [ann, bob, cat, far].map { house.table.session($0, isActivity: false) != nil }
        #expect(left == [true, true, false, true])
        #expect(house.ends.all == ["cat: user-changed"])
    }

    @Test func `a stamp is kept with a salt of each session's own`() async throws {
        let house = House(store: store)
        for _ in 0..<2 { _ = try await house.begin(stamp: stamp) }
        let stamps = store.records.compactMap(\.stamp)
        #expect(Set(stamps).count == 2)
        #expect(Set(stamps.map(\.salt)).count == 2)
        #expect(try stamps.allSatisfy { try $0.isMade(of: stamp) })
        #expect(try stamps.allSatisfy { try !$0.isMade(of: UserStamp([1, 2])) })
        #expect("\(stamp)" == "user stamp")
        #expect(Mirror(reflecting: stamp).children.isEmpty)
    }

    @Test(arguments: [(1799, true), (1800, false), (-1, false), (50_000, false)])
    func `its time goes on while no server runs`(seconds: Int, isLive: Bool) async throws {
        let first = House(store: store)
        let (_, token) = try await first.begin()
        let next = first.next(store: store, after: seconds)
        try await next.table.restore { _ in .user(.unknown) }
        #expect((next.table.session(token, isActivity: true) != nil) == isLive)
        #expect(next.ends.all.count == (isLive ? 0 : 1))
    }

    @Test func `a clock that was set back lengthens nothing`() async throws {
        let first = House({ $0.absolute = .seconds(2000) }, store: store)
        let (_, token) = try await first.begin()
        first.pass(1000)
        _ = first.table.session(token, isActivity: true)
        try await first.table.storeTouches()
        let next = first.next(store: store, after: -900) { $0.absolute = .seconds(2000) }
        try await next.table.restore { _ in .user(.unknown) }
        let session = try #require(next.table.session(token, isActivity: false))
        next.clock.advance(by: .seconds(999))
        next.table.refresh(session)
        #expect(next.table.session(token, isActivity: true) === session)
        next.clock.advance(by: .seconds(1))
        #expect(next.table.session(token, isActivity: true) == nil)
    }

    @Test func `stricter settings hold for what is restored`() async throws {
        let first = House(store: store)
        let (_, token) = try await first.begin()
        let next = first.next(store: store, after: 60) {
            $0.idle = .seconds(30)
            $0.absolute = .seconds(70)
        }
        try await next.table.restore { _ in .user(.unknown) }
        #expect(next.table.session(token, isActivity: true) != nil)
        next.clock.advance(by: .seconds(9))
        #expect(next.table.session(token, isActivity: true) != nil)
        next.clock.advance(by: .seconds(1))
        #expect(next.table.session(token, isActivity: true) == nil)
        let last = first.next(store: store, after: 20) { $0.absolute = .seconds(70) }
        try await last.table.restore { _ in .user(.unknown) }
        #expect(last.table.count == 0)
    }

    @Test func `of too many those that were used last go on`() async throws {
        let first = House(store: store)
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
        let live = tokens.map { next.table.session($0, isActivity: false) != nil }
        #expect(live == [false, false, true, true, true])
        #expect(next.ends.all == ["ann: limit", "ann: limit"])
    }

    @Test func `who changes while sessions are restored is not restored`() async throws {
        let (_, token) = try await House(store: store).begin(stamp: stamp)
        let next = House(store: store).next(store: store)
        try await next.table.restore { user in
            next.table.end(.userChanged) { $0.user.username == user.username }
            return .user(.present(stamp))
        }
        #expect(next.table.session(token, isActivity: true) == nil)
        #expect(next.ends.all == ["ann: user-changed"])
    }

    @Test func `a store that cannot be read is an error, and nobody is signed in`() async throws {
        let (_, token) = try await House(store: store).begin()
        store.breaks(true)
        let next = House(store: store).next(store: store)
        await #expect(throws: SessionStoreError.self) { try await next.table.restore { _ in .user(.unknown) } }
        #expect(next.table.session(token, isActivity: true) == nil)
    }

    @Test func `times that nobody can have written end the session, not the server`() async throws {
        for times in [(Int.min, Int.min, Int.min), (Int.max, Int.max, Int.max), (0, Int.max, Int.max), (Int.min, 0, 1)]
        {
            let (session, _) = try await House(store: store).begin()
            let record = try #require(store.records.first { $0.id == session.id })
            store.put(
                SessionRecord(
                    record.id,
                    token: record.token,
                    user: record.user,
                    client: record.client,
                    created: times.0,
                    lastSeen: times.0,
                    idleExpiry: times.1,
                    absoluteExpiry: times.2,
                    stamp: nil
                )
            )
            let next = House(store: store).next(store: store)
            try await next.table.restore { _ in .user(.unknown) }
            #expect(next.table.count == 0)
            try await next.table.settle()
            #expect(store.records.isEmpty)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Testing

@testable import Sessions

/// Who may have a session.
struct BeginningTests {
    @Test func `one more than a user may have ends the one that was used least recently`() async throws {
        let store = MemoryStore()
        let house = House({ $0.perUser = 3 }, store: store)
        var begun: [(session: Session, token: OpaqueToken)] = []
        for _ in 0..<3 {
            begun.append(try await house.begin())
            house.pass(1)
        }
        _ = try await house.begin("bob")
        _ = try await house.begin("ann", realm: "city")
        _ = house.table.session(begun[0].token, isActivity: true)
        _ = house.table.session(begun[1].token, isActivity: false)
        house.pass(1)
        let last = try await house.begin()
        #expect(house.ends.all == ["ann: limit"])
        #expect(begun.map(\.session.end) == [nil, .limit, nil])
        #expect(house.table.sessions(of: last.session.user).count == 3)
        #expect(store.records.count == 5)
    }

    @Test func `names that differ in their bytes are two users`() async throws {
        let house = House { $0.perUser = 1 }
        let names = ["\u{e9}", "e\u{301}"]
        for name in names { _ = try await house.begin(name) }
        for name in names { _ = try await house.begin("ann", realm: name) }
        #expect(house.table.count == 4)
        for name in names { #expect(house.table.sessions(of: try house.user(name)).count == 1) }
    }

    @Test func `there are no more than there may be, unless one goes for it`() async throws {
        let store = MemoryStore()
        let house = House(
            {
                $0.total = 3
                $0.perUser = 2
                $0.idle = .seconds(100)
            },
            store: store
        )
        let first = try await house.begin()
        _ = try await house.begin("bob")
        _ = try await house.begin("cy")
        await #expect(throws: SessionFault.full) { _ = try await house.begin("dan") }
        #expect(store.records.count == 3)
        let second = try await house.begin("ann", replacing: first.session)
        #expect(first.session.end == .replaced)
        await #expect(throws: SessionFault.full) { _ = try await house.begin("ann") }
        await house.table.end(second.session, .logout)
        _ = try await house.begin("cy")
        _ = try await house.begin("cy")
        #expect(house.ends.all == ["ann: replaced", "ann: logout", "cy: limit"])
        // Those whose time is over, though nobody has noticed, keep nobody out.
        house.pass(100)
        _ = try await house.begin("eve")
        #expect(house.table.count == 1)
        try await house.table.settle()
        #expect(store.records.map(\.user.username.text) == ["eve"])
    }

    @Test func `the one it replaces ends, and is gone from the store`() async throws {
        let store = MemoryStore()
        let house = House({ $0.perUser = 1 }, store: store)
        let old = try await house.begin("ann")
        let new = try await house.begin("bob", replacing: old.session)
        #expect(house.table.session(old.token, isActivity: true) == nil)
        #expect(store.records.map(\.id) == [new.session.id])
        let again = try await house.begin("cy", replacing: old.session)
        #expect(again.session.end == nil)
        #expect(house.ends.all == ["ann: replaced"])
    }

    @Test func `what cannot be stored does not begin, and replaces nothing`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let old = try await house.begin()
        store.breaks(true)
        await #expect(throws: SessionFault(.unavailable, "")) {
            _ = try await house.begin("ann", replacing: old.session)
        }
        #expect(house.table.count == 1)
        #expect(old.session.end == nil)
        store.breaks(false)
        _ = try await house.begin()
        #expect(house.table.count == 2)
    }

    @Test func `who was ended after the mark gets no session, whoever is not does`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let mark = house.table.mark()
        house.table.end(.userChanged) { $0.user.username.text == "ann" }
        await #expect(throws: SessionFault.changedMeanwhile) { _ = try await house.begin("ann", since: mark) }
        #expect(store.records.isEmpty)
        #expect(house.table.count == 0)
        #expect(house.ends.all.isEmpty)
        _ = try await house.begin("bob", since: mark)
        _ = try await house.begin("ann")
    }

    @Test func `it is the same while the session is being stored`() async throws {
        let store = MemoryStore()
        let house = House(store: store)
        let old = try await house.begin("bob")
        store.holds { house.table.end(.userChanged) { $0.user.username.text == "ann" } }
        await #expect(throws: SessionFault.changedMeanwhile) {
            _ = try await house.begin("ann", replacing: old.session)
        }
        #expect(store.records.map(\.id) == [old.session.id])
        #expect(old.session.end == nil)
    }

    @Test func `a mark older than all that is remembered is good for nothing`() async throws {
        let house = House()
        let mark = house.table.mark()
        for _ in 0..<Endings.kept { house.table.end(.userChanged) { _ in false } }
        _ = try await house.begin(since: mark)
        house.table.end(.userChanged) { _ in false }
        await #expect(throws: SessionFault.changedMeanwhile) { _ = try await house.begin(since: mark) }
    }

    @Test func `the proof of a login becomes a session`() async throws {
        let house = House()
        let stack = LoginStack(name: "s", [.init(Friendly(), .required)], clock: ManualClock())
        let request = LoginRequest(realm: "town", username: try Username("ann"))
        let report = await stack.login(request, asking: PreparedConversation(password: Secret(utf8: "x")))
        let identity = try #require(report.identity)
        let client = SessionClient(address: nil, userAgent: "")
        let mark = house.table.mark()
        let (session, _) = try await house.table.begin(identity, client, stamp: nil, since: mark, replacing: nil)
        #expect(session.user == (try house.user("ann", groups: ["Staff"])))
        #expect(session.identity?.username.text == "ann")
    }
}

/// Lets in everybody.
private struct Friendly: LoginModule {
    init() {}

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        attempt.commit(groups: ["Staff"])
    }
}

// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import RealmKit
import RealmTesting
import Testing

@testable import Sessions

/// Tests of child sessions: the sessions at other hosts that were handed over from a sign-in.
struct ChildSessionTests {
    private let app = SessionFixture.host("app.example")
    private let wiki = SessionFixture.host("wiki.example")
    private let client = SessionClient(address: "192.0.2.7", userAgent: "tests")

    @Test func `a child is found at its own host only, and has the user of its parent`() async throws {
        let fixture = SessionFixture()
        let (parent, parentToken) = try await fixture.begin()
        let (child, token) = try await fixture.table.beginChild(of: parent, at: app, from: client)
        #expect(fixture.table.session(token, at: app, isActivity: true) === child)
        #expect(child.user == parent.user && child.signIn === parent && parent.signIn === parent)
        #expect(child.identity == nil)
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
        #expect(fixture.table.session(token, at: wiki, isActivity: true) == nil)
        #expect(fixture.table.session(parentToken, at: app, isActivity: true) == nil)
    }

    @Test(arguments: SessionEndCause.allCases)
    func `the end of a sign-in ends all its children at once`(cause: SessionEndCause) async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let (parent, _) = try await fixture.begin()
        let first = try await fixture.table.beginChild(of: parent, at: app, from: client)
        let second = try await fixture.table.beginChild(of: parent, at: wiki, from: client)
        let events = try fixture.table.events(of: second.session, after: nil)
        #expect(store.records.count == 3)
        try await fixture.table.end(parent, cause: cause)
        #expect(fixture.table.session(first.token, at: app, isActivity: true) == nil)
        #expect(fixture.table.session(second.token, at: wiki, isActivity: true) == nil)
        #expect([first.session.end, second.session.end] == [cause, cause])
        #expect(fixture.table.count == 0)
        var received: [SessionEvent] = []
        for await event in events { received.append(event.event) }
        #expect(received == [.ended(cause)])
        try await fixture.table.processCommandsAndRemovals()
        #expect(store.records.isEmpty)
    }

    @Test func `the end of a child ends neither its parent nor the other children`() async throws {
        let fixture = SessionFixture()
        let (parent, _) = try await fixture.begin()
        let first = try await fixture.table.beginChild(of: parent, at: app, from: client)
        let second = try await fixture.table.beginChild(of: parent, at: wiki, from: client)
        try await fixture.table.end(first.session, cause: .replaced)
        #expect(first.session.end == .replaced)
        #expect(parent.end == nil && second.session.end == nil)
        #expect(fixture.table.family(of: second.session).map(\.id) == [parent.id, second.session.id])
    }

    @Test func `a use of a child keeps its parent and the other children`() async throws {
        let fixture = SessionFixture { $0.idle = .seconds(100) }
        let (parent, _) = try await fixture.begin()
        let used = try await fixture.table.beginChild(of: parent, at: app, from: client)
        let unused = try await fixture.table.beginChild(of: parent, at: wiki, from: client)
        for _ in 0..<3 {
            fixture.pass(90)
            #expect(fixture.table.session(used.token, at: app, isActivity: true) === used.session)
            fixture.table.sweep()
        }
        #expect(parent.end == nil && unused.session.end == nil)
        #expect(fixture.table.session(unused.token, at: wiki, isActivity: false) === unused.session)
        fixture.pass(101)
        #expect(fixture.table.session(used.token, at: app, isActivity: true) == nil)
        fixture.table.sweep()
        #expect([parent.end, used.session.end, unused.session.end] == [.idle, .idle, .idle])
    }

    @Test func `a child never outlives the absolute end of its parent`() async throws {
        let fixture = SessionFixture {
            $0.idle = .seconds(100)
            $0.absolute = .seconds(250)
        }
        let (parent, _) = try await fixture.begin()
        fixture.pass(90)
        let child = try await fixture.table.beginChild(of: parent, at: app, from: client)
        #expect(child.session.absoluteExpiry == parent.absoluteExpiry)
        for _ in 0..<2 {
            fixture.pass(79)
            #expect(fixture.table.session(child.token, at: app, isActivity: true) === child.session)
        }
        fixture.pass(2)
        #expect(fixture.table.session(child.token, at: app, isActivity: true) == nil)
    }

    @Test func `the clients of all children are warned, and a use of one child extends all`() async throws {
        let fixture = SessionFixture {
            $0.idle = .seconds(100)
            $0.warning = .seconds(20)
        }
        let (parent, _) = try await fixture.begin()
        let used = try await fixture.table.beginChild(of: parent, at: app, from: client)
        let other = try await fixture.table.beginChild(of: parent, at: wiki, from: client)
        let events = try fixture.table.events(of: other.session, after: nil)
        fixture.pass(85)
        fixture.table.sweep()
        _ = fixture.table.session(used.token, at: app, isActivity: true)
        try await fixture.table.end(parent, cause: .logout)
        var received: [SessionEvent] = []
        for await event in events { received.append(event.event) }
        #expect(received == [.expiring(seconds: 15), .extended(idleExpiry: other.session.idleExpiry), .ended(.logout)])
    }

    @Test func `a second child at the same host replaces the first one`() async throws {
        let fixture = SessionFixture()
        let (parent, _) = try await fixture.begin()
        let first = try await fixture.table.beginChild(of: parent, at: app, from: client)
        let second = try await fixture.table.beginChild(of: parent, at: app, from: client)
        #expect(first.session.end == .replaced)
        #expect(fixture.table.session(second.token, at: app, isActivity: true) === second.session)
        #expect(fixture.table.count == 2)
    }

    @Test func `children neither count for the user's limit nor are in the list of sessions`() async throws {
        let fixture = SessionFixture { $0.perUser = 2 }
        let (first, _) = try await fixture.begin()
        for number in 0..<5 {
            let host = SessionFixture.host("app\(number).example")
            _ = try await fixture.table.beginChild(of: first, at: host, from: client)
        }
        let (second, _) = try await fixture.begin()
        #expect(fixture.table.sessions(of: first.user).map(\.id) == [first.id, second.id])
        #expect(Set(fixture.table.sessions.map(\.id)) == [first.id, second.id])
        #expect(first.end == nil)
    }

    @Test func `the number of children is limited, and the oldest child ends first`() async throws {
        let fixture = SessionFixture()
        let (parent, _) = try await fixture.begin()
        var children: [Session] = []
        for number in 0...SessionTable.maximumChildren {
            let host = SessionFixture.host("app\(number).example")
            children.append(try await fixture.table.beginChild(of: parent, at: host, from: client).session)
        }
        #expect(children[0].end == .tooManySessions)
        #expect(children.dropFirst().allSatisfy { $0.end == nil })
        #expect(fixture.table.count == SessionTable.maximumChildren + 1)
    }

    @Test func `children count for the total number of sessions`() async throws {
        let fixture = SessionFixture { $0.total = 2 }
        let (parent, _) = try await fixture.begin()
        _ = try await fixture.table.beginChild(of: parent, at: app, from: client)
        await #expect(throws: SessionFault.full) {
            _ = try await fixture.table.beginChild(of: parent, at: wiki, from: client)
        }
    }

    @Test func `a child of a session that has ended, or of a child, does not begin`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let (parent, _) = try await fixture.begin()
        let child = try await fixture.table.beginChild(of: parent, at: app, from: client)
        await #expect(throws: SessionFault.ended) {
            _ = try await fixture.table.beginChild(of: child.session, at: wiki, from: client)
        }
        // The parent ends while the child is being stored.
        store.beforeSaving { fixture.table.end(.userChanged) { _ in true } }
        await #expect(throws: SessionFault.ended) {
            _ = try await fixture.table.beginChild(of: parent, at: wiki, from: client)
        }
        store.beforeSaving(nil)
        #expect(fixture.table.count == 0)
        try await fixture.table.processCommandsAndRemovals()
        #expect(store.records.isEmpty)
    }

    @Test func `an administrator who ends a child ends the whole sign-in`() async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let (parent, _) = try await fixture.begin()
        let child = try await fixture.table.beginChild(of: parent, at: app, from: client)
        _ = try await store.storeCommand(.end(.one(child.session.id)))
        try await fixture.table.processCommandsAndRemovals()
        #expect(parent.end == .administrator && child.session.end == .administrator)
    }

    @Test(arguments: [false, true])
    func `a message to a sign-in, or to a child, reaches the clients of all children`(isToChild: Bool) async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(store: store)
        let (parent, _) = try await fixture.begin()
        let child = try await fixture.table.beginChild(of: parent, at: app, from: client)
        let wiki = try #require(SessionHost("wiki.example"))
        let other = try await fixture.table.beginChild(of: parent, at: wiki, from: client)
        let events = try fixture.table.events(of: child.session, after: nil)
        _ = try await store.storeCommand(.message(.one(isToChild ? other.session.id : parent.id), "Tea is ready"))
        try await fixture.table.processCommandsAndRemovals()
        try await fixture.table.end(parent, cause: .logout)
        var received: [SessionEvent] = []
        for await event in events { received.append(event.event) }
        #expect(received == [.message("Tea is ready"), .ended(.logout)])
    }

    @Test(arguments: [(0, false), (1, true)])
    func `a child that was replaced shortly before a crash is not restored`(
        seconds: Int,
        isNewerKnown: Bool
    ) async throws {
        let store = MemoryStore()
        let before = SessionFixture(store: store)
        let (parent, _) = try await before.begin()
        let old = try await before.table.beginChild(of: parent, at: app, from: client)
        before.pass(seconds)
        let new = try await before.table.beginChild(of: parent, at: app, from: client)
        // The process ends before the first child is removed from the store.
        #expect(store.records.count == 3)

        let after = SessionFixture(store: store, clock: before.clock, wall: before.wall)
        try await after.table.restore { _ in .user(.unknown) }
        #expect(after.table.session(old.token, at: app, isActivity: true) == nil)
        #expect((after.table.session(new.token, at: app, isActivity: true) != nil) == isNewerKnown)
        try await after.table.processCommandsAndRemovals()
        #expect(Set(store.records.map(\.id)) == (isNewerKnown ? [parent.id, new.session.id] : [parent.id]))
    }

    @Test func `children are restored with their parent, and not without it`() async throws {
        let store = MemoryStore()
        let before = SessionFixture(store: store)
        let (kept, _) = try await before.begin()
        let child = try await before.table.beginChild(of: kept, at: app, from: client)
        let (ended, _) = try await before.begin("bob")
        let orphan = try await before.table.beginChild(of: ended, at: app, from: client)
        try await store.removeSessions([ended.id])

        let after = SessionFixture(store: store, clock: before.clock, wall: before.wall)
        try await after.table.restore { _ in .user(.unknown) }
        let restored = try #require(after.table.session(child.token, at: app, isActivity: true))
        #expect(restored.parent?.id == kept.id)
        #expect(after.table.session(orphan.token, at: app, isActivity: true) == nil)
        try await after.table.processCommandsAndRemovals()
        #expect(Set(store.records.map(\.id)) == [kept.id, child.session.id])
        after.table.end(.administrator) { $0.id == kept.id }
        #expect(after.table.session(child.token, at: app, isActivity: true) == nil)
    }
}

// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import RealmKit
import RealmTesting
import Synchronization
import TestTools
import Testing

@testable import Sessions

/// Tests that an end of a session is either stored or reported as an error.
struct DurableEndTests {
    private let store = MemoryStore()
    private let fixture: SessionFixture

    init() { fixture = SessionFixture(store: store) }

    /// Returns true if a token is valid after a restart.
    private func isAlive(_ token: OpaqueToken) async throws -> Bool {
        let next = fixture.next(store: store)
        try await next.table.restore { _ in .user(.unknown) }
        return next.table.session(token, at: SessionFixture.host, isActivity: false) != nil
    }

    @Test func `if an end cannot be stored, the request fails but the session has ended`() async throws {
        let (session, token) = try await fixture.begin()
        store.setFailing(true)
        let unavailable = SessionFault(.unavailable, "")
        await #expect(throws: unavailable) { try await fixture.table.end(session, cause: .logout) }
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
        #expect(session.end == .logout)
        // A client that has the token can try again at the session's host.
        #expect(fixture.table.unstoredEnd(token, at: SessionFixture.host("www.example")) == nil)
        let unstored = try #require(fixture.table.unstoredEnd(token, at: SessionFixture.host))
        await #expect(throws: unavailable) { try await fixture.table.end(unstored, cause: .logout) }
        store.setFailing(false)
        // After the fault, a restart restores the session.
        #expect(try await isAlive(token))
        try await fixture.table.end(unstored, cause: .logout)
        #expect(fixture.table.unstoredEnd(token, at: SessionFixture.host) == nil)
        #expect(try await !isAlive(token))
        #expect(fixture.ends.all == ["ann: logout"])
    }

    @Test func `an end stays recorded until the session is removed from the store`() async throws {
        let (session, token) = try await fixture.begin()
        store.setFailing(true, recording: false)
        try await fixture.table.end(session, cause: .logout)
        #expect(fixture.table.unstoredEnd(token, at: SessionFixture.host) == nil)
        store.setFailing(false)
        #expect(store.records.count == 1)
        #expect(try await !isAlive(token))
        await fixture.running { await fixture.second() }
        #expect(store.records.isEmpty && store.recordedEnds.isEmpty)
    }

    @Test func `after a restart the server applies recorded ends and removes them`() async throws {
        let (session, token) = try await fixture.begin()
        store.setFailing(true, recording: false)
        try await fixture.table.end(session, cause: .logout)
        store.setFailing(false)
        let next = fixture.next(store: store)
        try await next.table.restore { _ in .user(.unknown) }
        try await next.table.processCommandsAndRemovals()
        #expect(store.records.isEmpty && store.recordedEnds.isEmpty)
        #expect(try await !isAlive(token))
    }

    @Test(arguments: [false, true])
    func `ending a session returns even if the store hangs`(doesRecordingHang: Bool) async throws {
        let (session, token) = try await fixture.begin()
        let latch = Latch()
        store.setFailing(false, recording: false)
        let hold: @Sendable () async -> Void = { await latch.pass() }
        store.beforeEnding(removals: hold, recording: doesRecordingHang ? hold : nil)
        let table = fixture.table
        let task = Task { () -> SessionFault? in
            do throws(SessionFault) { try await table.end(session, cause: .logout) } catch { return error }
            return nil
        }
        for _ in 0..<(doesRecordingHang ? 2 : 1) {
            await fixture.clock.untilAsleep(1)
            #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
            fixture.clock.advance(by: SessionTable.timeLimit)
        }
        #expect(await task.value == (doesRecordingHang ? SessionFault(.unavailable, "") : nil))
        latch.open()
    }

    @Test func `ends by an administrator, or because the user has changed, are also recorded`() async throws {
        let (_, token) = try await fixture.begin("ann")
        let (_, other) = try await fixture.begin("bob")
        store.setFailing(true, recording: false)
        fixture.table.end(.userChanged) { $0.user.username.text == "ann" }
        fixture.table.end(.administrator) { _ in true }
        await #expect(throws: SessionStoreError.self) { try await fixture.table.processCommandsAndRemovals() }
        store.setFailing(false)
        #expect(store.recordedEnds.count == 2)
        for token in [token, other] { #expect(try await !isAlive(token)) }
    }

    @Test func `if the end of the replaced session cannot be stored, the new session does not begin`() async throws {
        let (old, token) = try await fixture.begin()
        let store = store
        store.beforeEnding(removals: { store.setFailing(true) }, recording: nil)
        await #expect(throws: SessionFault(.unavailable, "")) { _ = try await fixture.begin(replacing: old) }
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
        #expect(fixture.table.count == 0)
        #expect(fixture.ends.all == ["ann: replaced"])
        store.setFailing(false)
        store.beforeEnding(removals: nil, recording: nil)
        try await fixture.table.processCommandsAndRemovals()
        #expect(store.records.isEmpty)
    }

    @Test func `concurrent ends share calls of the store, and all sessions end at once`() async throws {
        var sessions: [Session] = []
        for number in 0..<30 { sessions.append(try await fixture.begin("ann\(number)").session) }
        let latch = Latch()
        store.beforeEnding(removals: { await latch.pass() }, recording: nil)
        let table = fixture.table
        let pairs = stride(from: 0, to: 30, by: 2).map { [sessions[$0], sessions[$0 + 1]] }
        let tasks = pairs.map { pair in Task { try await table.end(pair, cause: .logout) } }
        await fixture.clock.untilAsleep(pairs.count)
        #expect(table.count == 0)
        // The background loop removes the same sessions at the same time.
        let loop = Task { try await table.processCommandsAndRemovals() }
        latch.open()
        for task in tasks { try await task.value }
        try await loop.value
        #expect(store.removals <= 3)
        #expect(store.records.isEmpty && store.recordedEnds.isEmpty)
    }

    @Test(arguments: [false, true])
    func `a sign-in returns even if the store hangs, and leaves no session in the store`(
        isSavedLater: Bool
    ) async throws {
        let latch = Latch()
        let hold: @Sendable () async -> Void = { await latch.pass() }
        if isSavedLater { store.beforeUncancellableSaving(hold) } else { store.beforeSaving(hold) }
        let fixture = fixture
        let task = Task { () -> SessionFault? in
            do { _ = try await fixture.begin() } catch { return error as? SessionFault }
            return nil
        }
        await fixture.clock.untilAsleep(1)
        fixture.clock.advance(by: SessionTable.timeLimit)
        #expect(await task.value == SessionFault(.unavailable, ""))
        #expect(fixture.table.count == 0)
        #expect(fixture.table.state.withLock { $0.reserved } == 0)
        // A removal at this point would run before the delayed save, and the saved session would stay in the store.
        try await fixture.table.processCommandsAndRemovals()
        #expect(store.removals == 0)
        latch.open()
        let end = ContinuousClock.now + Waiting.timeLimit
        while store.removals == 0, ContinuousClock.now < end {
            try await fixture.table.processCommandsAndRemovals()
            await Task.yield()
        }
        #expect(store.removals == 1)
        #expect(store.records.isEmpty)
    }

    @Test func `a user's ends are listed as unstored until they are stored`() async throws {
        let (session, _) = try await fixture.begin("ann")
        let (other, _) = try await fixture.begin("ann")
        let (bob, _) = try await fixture.begin("bob")
        store.setFailing(true)
        for ended in [session, other, bob] {
            await #expect(throws: SessionFault.self) { try await fixture.table.end(ended, cause: .logout) }
        }
        #expect(Set(fixture.table.unstoredEnds(of: session.user).map(\.id)) == [session.id, other.id])
        #expect(fixture.table.unstoredEnds(of: bob.user).map(\.id) == [bob.id])
        #expect(fixture.table.unstoredEnds(of: try fixture.user("ann", realm: "city")).isEmpty)
        store.setFailing(true, recording: false)
        try await fixture.table.end(other, cause: .logout)
        #expect(fixture.table.unstoredEnds(of: session.user).map(\.id) == [session.id])
        store.setFailing(false)
        try await fixture.table.processCommandsAndRemovals()
        #expect(fixture.table.unstoredEnds(of: session.user).isEmpty)
        #expect(fixture.table.unstoredEnds(of: bob.user).isEmpty)
    }

    @Test func `the cost of storing an end does not depend on the number of unstored ends`() async throws {
        let user = try fixture.user("ann")
        let client = SessionClient(address: nil, userAgent: "tests")
        let times = SessionTimes(lastSeen: 0, idleEnd: 1, absoluteEnd: 1, warningLength: 0)
        /// Returns the cost of storing 100 of `count` unstored ends.
        func cost(_ count: Int) throws -> Double {
            var writes = SessionWriteQueue(hasStore: true)
            let ids = try (0..<count).map { _ in try SessionID() }
            for (number, id) in ids.enumerated() {
                let session = Session(
                    id,
                    token: try Digest.sha256(Array("\(number)".utf8)),
                    of: user,
                    at: SessionFixture.host,
                    from: client,
                    created: 0,
                    stamp: nil,
                    times: times,
                    clocks: fixture.table.clocks
                )
                writes.remove(session)
            }
            let cost = ProcessorTime.measureThread {
                for id in ids.prefix(100) {
                    writes.markRecorded([id])
                    writes.markRemoved([id])
                }
            }
            for id in ids.dropFirst(100) {
                writes.markRecorded([id])
                writes.markRemoved([id])
            }
            #expect(writes.due.isEmpty)
            return cost
        }
        // If each end were searched for among all ends, the cost would be a hundred times as high.
        let ratio = try await CostRatio(below: 20, of: { try cost(10_000) }, to: { try cost(100) })
        #expect(ratio.value < 20, "\(ratio)")
    }
}

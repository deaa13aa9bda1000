// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import OpenSSLKit
import RealmKit
import RealmTesting
import Synchronization
import TestTools
import Testing

@testable import Sessions

/// The end of a session is durable, or its request gets an error.
struct DurableEndTests {
    private let store = MemoryStore()
    private let fixture: SessionFixture

    init() { fixture = SessionFixture(store: store) }

    /// Returns whether a token is valid after a restart.
    private func isAlive(_ token: OpaqueToken) async throws -> Bool {
        let next = fixture.next(store: store)
        try await next.table.restore { _ in .user(.unknown) }
        return next.table.session(token, at: SessionFixture.host, isActivity: false) != nil
    }

    @Test func `an end that cannot be stored is not acknowledged, but the session is over`() async throws {
        let (session, token) = try await fixture.begin()
        store.setBroken(true)
        let unavailable = SessionFault(.unavailable, "")
        await #expect(throws: unavailable) { try await fixture.table.end(session, cause: .logout) }
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
        #expect(session.end == .logout)
        // A client with the token may retry at the session's host.
        #expect(fixture.table.unsettledEnd(token, at: SessionFixture.host("www.example")) == nil)
        let unsettled = try #require(fixture.table.unsettledEnd(token, at: SessionFixture.host))
        await #expect(throws: unavailable) { try await fixture.table.end(unsettled, cause: .logout) }
        store.setBroken(false)
        // The fault means that a restart would restore the session.
        #expect(try await isAlive(token))
        try await fixture.table.end(unsettled, cause: .logout)
        #expect(fixture.table.unsettledEnd(token, at: SessionFixture.host) == nil)
        #expect(try await !isAlive(token))
        #expect(fixture.ends.all == ["ann: logout"])
    }

    @Test func `an end that fails in the store is noted beside the store until the removal succeeds`() async throws {
        let (session, token) = try await fixture.begin()
        store.setBroken(true, notes: false)
        try await fixture.table.end(session, cause: .logout)
        #expect(fixture.table.unsettledEnd(token, at: SessionFixture.host) == nil)
        store.setBroken(false)
        #expect(store.records.count == 1)
        #expect(try await !isAlive(token))
        await fixture.running { await fixture.second() }
        #expect(store.records.isEmpty && store.noted.isEmpty)
    }

    @Test func `the next server applies and removes noted ends`() async throws {
        let (session, token) = try await fixture.begin()
        store.setBroken(true, notes: false)
        try await fixture.table.end(session, cause: .logout)
        store.setBroken(false)
        let next = fixture.next(store: store)
        try await next.table.restore { _ in .user(.unknown) }
        try await next.table.settle()
        #expect(store.records.isEmpty && store.noted.isEmpty)
        #expect(try await !isAlive(token))
    }

    @Test(arguments: [false, true])
    func `an end does not wait for a store that hangs`(isNoteStuck: Bool) async throws {
        let (session, token) = try await fixture.begin()
        let latch = Latch()
        store.setBroken(false, notes: false)
        let hold: @Sendable () async -> Void = { await latch.pass() }
        store.beforeEnding(removals: hold, notes: isNoteStuck ? hold : nil)
        let table = fixture.table
        let task = Task { () -> SessionFault? in
            do throws(SessionFault) { try await table.end(session, cause: .logout) } catch { return error }
            return nil
        }
        for _ in 0..<(isNoteStuck ? 2 : 1) {
            await fixture.clock.untilAsleep(1)
            #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
            fixture.clock.advance(by: SessionTable.timeLimit)
        }
        #expect(await task.value == (isNoteStuck ? SessionFault(.unavailable, "") : nil))
        latch.open()
    }

    @Test func `ends by a changed user or an administrator are noted, too`() async throws {
        let (_, token) = try await fixture.begin("ann")
        let (_, other) = try await fixture.begin("bob")
        store.setBroken(true, notes: false)
        fixture.table.end(.userChanged) { $0.user.username.text == "ann" }
        fixture.table.end(.administrator) { _ in true }
        await #expect(throws: SessionStoreError.self) { try await fixture.table.settle() }
        store.setBroken(false)
        #expect(store.noted.count == 2)
        for token in [token, other] { #expect(try await !isAlive(token)) }
    }

    @Test func `no session begins in place of one whose end cannot be stored`() async throws {
        let (old, token) = try await fixture.begin()
        let store = store
        store.beforeEnding(removals: { store.setBroken(true) }, notes: nil)
        await #expect(throws: SessionFault(.unavailable, "")) { _ = try await fixture.begin(replacing: old) }
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) == nil)
        #expect(fixture.table.count == 0)
        #expect(fixture.ends.all == ["ann: replaced"])
        store.setBroken(false)
        store.beforeEnding(removals: nil, notes: nil)
        try await fixture.table.settle()
        #expect(store.records.isEmpty)
    }

    @Test func `concurrent ends share few calls of the store, and all sessions are over at once`() async throws {
        var sessions: [Session] = []
        for number in 0..<30 { sessions.append(try await fixture.begin("ann\(number)").session) }
        let latch = Latch()
        store.beforeEnding(removals: { await latch.pass() }, notes: nil)
        let table = fixture.table
        let pairs = stride(from: 0, to: 30, by: 2).map { [sessions[$0], sessions[$0 + 1]] }
        let tasks = pairs.map { pair in Task { try await table.end(pair, cause: .logout) } }
        await fixture.clock.untilAsleep(pairs.count)
        #expect(table.count == 0)
        // The background loop removes the same sessions.
        let loop = Task { try await table.settle() }
        latch.open()
        for task in tasks { try await task.value }
        try await loop.value
        #expect(store.removals <= 3)
        #expect(store.records.isEmpty && store.noted.isEmpty)
    }

    @Test(arguments: [false, true])
    func `a sign-in does not wait for a store that hangs, and leaves no session in it`(
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
        // A removal now would come before the late save, and the session would stay in the store.
        try await fixture.table.settle()
        #expect(store.removals == 0)
        latch.open()
        let end = ContinuousClock.now + Waiting.timeLimit
        while store.removals == 0, ContinuousClock.now < end {
            try await fixture.table.settle()
            await Task.yield()
        }
        #expect(store.removals == 1)
        #expect(store.records.isEmpty)
    }

    @Test func `unsettled ends are found by their user until they are settled`() async throws {
        let (session, _) = try await fixture.begin("ann")
        let (other, _) = try await fixture.begin("ann")
        let (bob, _) = try await fixture.begin("bob")
        store.setBroken(true)
        for ended in [session, other, bob] {
            await #expect(throws: SessionFault.self) { try await fixture.table.end(ended, cause: .logout) }
        }
        #expect(Set(fixture.table.unsettledEnds(of: session.user).map(\.id)) == [session.id, other.id])
        #expect(fixture.table.unsettledEnds(of: bob.user).map(\.id) == [bob.id])
        #expect(fixture.table.unsettledEnds(of: try fixture.user("ann", realm: "city")).isEmpty)
        store.setBroken(true, notes: false)
        try await fixture.table.end(other, cause: .logout)
        #expect(fixture.table.unsettledEnds(of: session.user).map(\.id) == [session.id])
        store.setBroken(false)
        try await fixture.table.settle()
        #expect(fixture.table.unsettledEnds(of: session.user).isEmpty)
        #expect(fixture.table.unsettledEnds(of: bob.user).isEmpty)
    }

    @Test func `settling an end costs the same when many ends are unsettled`() async throws {
        let user = try fixture.user("ann")
        let client = SessionClient(address: nil, userAgent: "tests")
        let times = SessionTimes(seen: 0, idleEnd: 1, absoluteEnd: 1, warning: 0)
        /// The cost of settling 100 of `count` unsettled ends.
        func cost(_ count: Int) throws -> Double {
            var writes = SessionWriteQueue(isStored: true)
            let ids = try (0..<count).map { _ in try SessionID() }
            for (number, id) in ids.enumerated() {
                let session = Session(
                    id,
                    of: user,
                    at: SessionFixture.host,
                    from: client,
                    identity: nil,
                    created: 0,
                    stamp: nil,
                    times: times,
                    clocks: fixture.table.clocks
                )
                writes.remove(session, token: try Digest.sha256(Array("\(number)".utf8)))
            }
            let cost = ProcessorTime.measureThread {
                for id in ids.prefix(100) {
                    writes.hasNoted([id])
                    writes.hasRemoved([id])
                }
            }
            for id in ids.dropFirst(100) {
                writes.hasNoted([id])
                writes.hasRemoved([id])
            }
            #expect(writes.due.isEmpty && writes.unsettled(of: SessionOwner(user)).isEmpty)
            return cost
        }
        // The cost would be a hundred times as high if each end searched all others.
        let ratio = try await CostRatio(below: 20, of: { try cost(10_000) }, to: { try cost(100) })
        #expect(ratio.value < 20, "\(ratio)")
    }
}

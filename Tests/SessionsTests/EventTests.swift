// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmTesting
import Synchronization
import Testing

@testable import Sessions

/// What clients are told.
struct EventTests {
    private func numbered(_ number: UInt64, _ event: SessionEvent) -> NumberedSessionEvent {
        NumberedSessionEvent(number: number, event: event)
    }

    private func all(_ events: SessionEvents) async -> [SessionEvent] {
        var read: [SessionEvent] = []
        for await event in events { read.append(event.event) }
        return read
    }

    @Test func `a session is said to expire once, to go on if it is used, and to have ended`() async throws {
        let house = House {
            $0.idle = .seconds(100)
            $0.warning = .seconds(20)
        }
        let (session, token) = try await house.begin()
        let events = try house.table.events(of: session, after: nil)
        let begin = house.wall.now
        for _ in 0..<90 {
            house.pass(1)
            house.table.sweep()
        }
        _ = house.table.session(token, isActivity: false)
        _ = house.table.session(token, isActivity: true)
        _ = house.table.session(token, isActivity: true)
        for _ in 0..<100 {
            house.pass(1)
            house.table.sweep()
        }
        let told: [SessionEvent] = [
            .expiring(seconds: 20), .extended(idleExpiry: begin + 190), .expiring(seconds: 20), .ended(.idle),
        ]
        #expect(await all(events) == told)
    }

    @Test func `nothing is said to be extended that ends at the same time`() async throws {
        let house = House {
            $0.idle = .seconds(100)
            $0.absolute = .seconds(100)
        }
        let (session, token) = try await house.begin()
        let events = try house.table.events(of: session, after: nil)
        for _ in 0..<100 {
            house.pass(1)
            house.table.sweep()
            _ = house.table.session(token, isActivity: true)
        }
        #expect(await all(events) == [.expiring(seconds: 50), .ended(.absolute)])
    }

    @Test func `a client that comes back is told what it has missed, the last sixteen`() async throws {
        let house = House()
        let (session, _) = try await house.begin()
        for number in 1...20 { house.table.send("\(number)", to: session) }
        var later = try house.table.events(of: session, after: 18).makeAsyncIterator()
        #expect(await later.next() == numbered(19, .message("19")))
        #expect(await later.next() == numbered(20, .message("20")))
        var early = try house.table.events(of: session, after: 1).makeAsyncIterator()
        #expect(await early.next() == numbered(5, .message("5")))
        // A number of the server before this one.
        var other = try house.table.events(of: session, after: 1000).makeAsyncIterator()
        #expect(await other.next() == numbered(5, .message("5")))
        var new = try house.table.events(of: session, after: nil).makeAsyncIterator()
        house.table.send("21\u{1b}\n", to: session)
        #expect(await new.next() == numbered(21, .message("21 ")))
        #expect(await later.next() == numbered(21, .message("21 ")))
    }

    @Test func `a slow reader loses the oldest, and never the end`() async throws {
        let house = House()
        let (session, _) = try await house.begin()
        let events = try house.table.events(of: session, after: nil)
        for number in 1...100 { house.table.send("\(number)", to: session) }
        await house.table.end(session, .administrator)
        house.table.send("late", to: session)
        let told = await all(events)
        #expect(told.count == EventStream.bound)
        #expect(told.first == .message("70"))
        #expect(told.last == .ended(.administrator))
        #expect(throws: SessionFault.ended) { _ = try house.table.events(of: session, after: nil) }
    }

    @Test func `there are no more streams than there may be, and places are given back`() async throws {
        let house = House {
            $0.streamsPerSession = 2
            $0.streams = 3
        }
        let (ann, _) = try await house.begin("ann")
        let (bob, _) = try await house.begin("bob")
        var open = [try house.table.events(of: ann, after: nil), try house.table.events(of: ann, after: nil)]
        #expect(throws: SessionFault.tooManyStreams) { _ = try house.table.events(of: ann, after: nil) }
        open.append(try house.table.events(of: bob, after: nil))
        #expect(throws: SessionFault.tooManyStreams) { _ = try house.table.events(of: bob, after: nil) }
        open.removeFirst()
        open.append(try house.table.events(of: bob, after: nil))
        #expect(throws: SessionFault.tooManyStreams) { _ = try house.table.events(of: ann, after: nil) }
        open = []
        #expect(house.table.streams.withLock { $0.streams.isEmpty && $0.ofSession.isEmpty })
        await house.table.end(ann, .logout)
        for _ in 0..<5 { #expect(throws: SessionFault.ended) { _ = try house.table.events(of: ann, after: nil) } }
        #expect(house.table.streams.withLock { $0.streams.isEmpty && $0.ofSession.isEmpty })
    }

    @Test func `a stream ends when its reader is cancelled, and gives its place back`() async throws {
        let house = House()
        let (session, _) = try await house.begin()
        let reader = Task { [table = house.table] in
            var count = 0
            for await _ in try table.events(of: session, after: 0) { count += 1 }
            return count
        }
        while house.table.streams.withLock({ $0.streams.isEmpty }) { await Task.yield() }
        reader.cancel()
        #expect(try await reader.value == 0)
        #expect(house.table.streams.withLock { $0.streams.isEmpty })
    }

    @Test func `a server that stops says so, and sessions stay`() async throws {
        let house = House()
        let (session, token) = try await house.begin()
        let events = try house.table.events(of: session, after: nil)
        house.table.close()
        house.table.send("late", to: session)
        #expect(await all(events) == [.closing])
        #expect(throws: SessionFault.closing) { _ = try house.table.events(of: session, after: nil) }
        #expect(house.table.session(token, isActivity: true) === session)
    }

    @Test func `an open stream keeps no session alive, and shows every 15 seconds that it is`() async throws {
        let house = House { $0.idle = .seconds(40) }
        let (session, _) = try await house.begin()
        let events = try house.table.events(of: session, after: nil)
        let reader = Task { await all(events) }
        await house.running {
            for _ in 0..<41 { await house.second() }
        }
        #expect(session.end == .idle)
        let told = await reader.value
        // Two that nobody has read yet would be one.
        #expect((1...2).contains(told.count { $0 == .heartbeat }))
        #expect(told.filter { $0 != .heartbeat } == [.expiring(seconds: 20), .ended(.idle)])
    }
}

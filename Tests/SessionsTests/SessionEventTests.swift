// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Synchronization
import TestTools
import Testing

@testable import Sessions

/// Tests of the events of sessions.
struct SessionEventTests {
    private func numbered(_ number: UInt64, _ event: SessionEvent) -> NumberedSessionEvent {
        NumberedSessionEvent(number: number, event: event)
    }

    private func all(_ events: SessionEvents) async -> [SessionEvent] {
        var read: [SessionEvent] = []
        for await event in events { read.append(event.event) }
        return read
    }

    @Test func `a session publishes events before it expires, when it is extended and when it ends`() async throws {
        let fixture = SessionFixture {
            $0.idle = .seconds(100)
            $0.warning = .seconds(20)
        }
        let (session, token) = try await fixture.begin()
        let events = try fixture.table.events(of: session, after: nil)
        let begin = fixture.wall.now
        for _ in 0..<90 {
            fixture.pass(1)
            fixture.table.sweep()
        }
        _ = fixture.table.session(token, at: SessionFixture.host, isActivity: false)
        _ = fixture.table.session(token, at: SessionFixture.host, isActivity: true)
        _ = fixture.table.session(token, at: SessionFixture.host, isActivity: true)
        for _ in 0..<100 {
            fixture.pass(1)
            fixture.table.sweep()
        }
        let expected: [SessionEvent] = [
            .expiring(seconds: 20), .extended(idleExpiry: begin + 190), .expiring(seconds: 20), .ended(.idle),
        ]
        #expect(await all(events) == expected)
    }

    @Test func `there is no extension event if the end stays the same`() async throws {
        let fixture = SessionFixture {
            $0.idle = .seconds(100)
            $0.absolute = .seconds(100)
        }
        let (session, token) = try await fixture.begin()
        let events = try fixture.table.events(of: session, after: nil)
        for _ in 0..<100 {
            fixture.pass(1)
            fixture.table.sweep()
            _ = fixture.table.session(token, at: SessionFixture.host, isActivity: true)
        }
        #expect(await all(events) == [.expiring(seconds: 50), .ended(.absolute)])
    }

    @Test func `a client that reconnects gets the last sixteen events it missed`() async throws {
        let fixture = SessionFixture()
        let (session, _) = try await fixture.begin()
        for number in 1...20 { fixture.table.send("\(number)", to: session) }
        let later = try fixture.table.events(of: session, after: 18)
        #expect(await later.next() == numbered(19, .message("19")))
        #expect(await later.next() == numbered(20, .message("20")))
        let early = try fixture.table.events(of: session, after: 1)
        #expect(await early.next() == numbered(5, .message("5")))
        // This event number is from before a restart.
        let other = try fixture.table.events(of: session, after: 1000)
        #expect(await other.next() == numbered(5, .message("5")))
        let new = try fixture.table.events(of: session, after: nil)
        fixture.table.send("21\u{1b}\n", to: session)
        #expect(await new.next() == numbered(21, .message("21 ")))
        #expect(await later.next() == numbered(21, .message("21 ")))
    }

    @Test func `a slow reader loses the oldest events but always gets the end event`() async throws {
        let fixture = SessionFixture()
        let (session, _) = try await fixture.begin()
        let events = try fixture.table.events(of: session, after: nil)
        for number in 1...100 { fixture.table.send("\(number)", to: session) }
        try await fixture.table.end(session, cause: .administrator)
        fixture.table.send("late", to: session)
        let received = await all(events)
        #expect(received.count == EventStream.capacity)
        #expect(received.first == .message("70"))
        #expect(received.last == .ended(.administrator))
        #expect(throws: SessionFault.ended) { _ = try fixture.table.events(of: session, after: nil) }
    }

    @Test func `a heartbeat removes no event, and a slow reader gets only one heartbeat`() async throws {
        let busy = SessionFixture()
        let (session, _) = try await busy.begin()
        let events = try busy.table.events(of: session, after: nil)
        for _ in 0..<3 { busy.table.sendHeartbeats() }
        for number in 1...31 { busy.table.send("\(number)", to: session) }
        for _ in 0..<3 { busy.table.sendHeartbeats() }
        let full = try busy.table.events(of: session, after: nil)
        for number in 32...63 { busy.table.send("\(number)", to: session) }
        busy.table.sendHeartbeats()
        busy.table.close()
        #expect(await all(full) == (33...63).map { .message("\($0)") } + [.closing])
        #expect(await all(events) == (33...63).map { .message("\($0)") } + [.closing])
        let quiet = SessionFixture()
        let silent = try quiet.table.events(of: try await quiet.begin().session, after: nil)
        for _ in 0..<3 { quiet.table.sendHeartbeats() }
        quiet.table.close()
        #expect(await all(silent) == [.heartbeat, .closing])
    }

    @Test func `the number of event streams is limited, and a closed stream frees its place`() async throws {
        let fixture = SessionFixture {
            $0.streamsPerSession = 2
            $0.streams = 3
        }
        let (ann, _) = try await fixture.begin("ann")
        let (bob, _) = try await fixture.begin("bob")
        var open = [try fixture.table.events(of: ann, after: nil), try fixture.table.events(of: ann, after: nil)]
        #expect(throws: SessionFault.tooManyStreams) { _ = try fixture.table.events(of: ann, after: nil) }
        open.append(try fixture.table.events(of: bob, after: nil))
        #expect(throws: SessionFault.tooManyStreams) { _ = try fixture.table.events(of: bob, after: nil) }
        open.removeFirst()
        open.append(try fixture.table.events(of: bob, after: nil))
        #expect(throws: SessionFault.tooManyStreams) { _ = try fixture.table.events(of: ann, after: nil) }
        open = []
        #expect(fixture.table.streams.withLock { $0.streams.isEmpty })
        try await fixture.table.end(ann, cause: .logout)
        for _ in 0..<5 { #expect(throws: SessionFault.ended) { _ = try fixture.table.events(of: ann, after: nil) } }
        #expect(fixture.table.streams.withLock { $0.streams.isEmpty })
    }

    @Test func `a user cannot use up the event streams of other users`() async throws {
        let fixture = SessionFixture {
            $0.streamsPerSession = 2
            $0.perUser = 3
            $0.streams = 6
        }
        let (ann, _) = try await fixture.begin("ann")
        let (bob, _) = try await fixture.begin("bob")
        var sessions = [ann]
        for number in 0..<5 {
            let host = SessionFixture.host("h\(number).example.org")
            let child = try await fixture.table.beginChild(
                of: ann,
                at: host,
                from: SessionClient(address: nil, userAgent: "")
            )
            sessions.append(child.session)
        }
        // The sessions of a user at all hosts have as many streams as the sign-ins of a user may have at one host.
        var open: [SessionEvents] = []
        for session in sessions.prefix(3) {
            for _ in 0..<2 { open.append(try fixture.table.events(of: session, after: nil)) }
        }
        #expect(throws: SessionFault.tooManyStreams) { _ = try fixture.table.events(of: sessions[3], after: nil) }
        // All streams are in use. The user with the most streams loses the oldest one.
        open.append(try fixture.table.events(of: bob, after: nil))
        #expect(await all(open[0]) == [.closing])
        open.append(try fixture.table.events(of: bob, after: nil))
        #expect(await all(open[1]) == [.closing])
        #expect(throws: SessionFault.tooManyStreams) { _ = try fixture.table.events(of: sessions[5], after: nil) }
        #expect(fixture.table.streams.withLock { $0.streams.count } == 6)
        open = []
        #expect(fixture.table.streams.withLock { $0.streams.isEmpty })
    }

    @Test func `a stream ends and frees its place when its reader is cancelled`() async throws {
        let fixture = SessionFixture()
        let (session, _) = try await fixture.begin()
        let reader = Task { [table = fixture.table] in
            var count = 0
            for await _ in try table.events(of: session, after: 0) { count += 1 }
            return count
        }
        try await Waiting.until { fixture.table.streams.withLock { !$0.streams.isEmpty } }
        reader.cancel()
        #expect(try await reader.value == 0)
        #expect(fixture.table.streams.withLock { $0.streams.isEmpty })
    }

    @Test func `a stopping server sends a closing event and ends no session`() async throws {
        let fixture = SessionFixture()
        let (session, token) = try await fixture.begin()
        let events = try fixture.table.events(of: session, after: nil)
        fixture.table.close()
        fixture.table.send("late", to: session)
        #expect(await all(events) == [.closing])
        #expect(throws: SessionFault.closing) { _ = try fixture.table.events(of: session, after: nil) }
        #expect(fixture.table.session(token, at: SessionFixture.host, isActivity: true) === session)
    }

    @Test func `an open stream does not extend its session, and sends a heartbeat every 15 seconds`() async throws {
        let fixture = SessionFixture { $0.idle = .seconds(40) }
        let (session, _) = try await fixture.begin()
        let events = try fixture.table.events(of: session, after: nil)
        let reader = Task { await all(events) }
        await fixture.running {
            for _ in 0..<41 { await fixture.second() }
        }
        #expect(session.end == .idle)
        let received = await reader.value
        // A second heartbeat is not added while the first is unread.
        #expect((1...2).contains(received.count { $0 == .heartbeat }))
        #expect(received.filter { $0 != .heartbeat } == [.expiring(seconds: 20), .ended(.idle)])
    }
}

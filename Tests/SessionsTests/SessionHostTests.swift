// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import RealmKit
import Testing

@testable import Sessions

/// Tests of the hosts of sessions.
struct SessionHostTests {
    private let here = SessionFixture.host("app.example")
    private let elsewhere = SessionFixture.host("www.example")

    @Test func `a session is found only at its host, and a request at another host does not change it`() async throws {
        let fixture = SessionFixture()
        let (session, token) = try await fixture.begin(at: here)
        let end = session.idleExpiry
        fixture.pass(100)
        #expect(fixture.table.session(token, at: elsewhere, isActivity: true) == nil)
        #expect(session.idleExpiry == end)
        #expect(session.end == nil)
        #expect(fixture.table.session(token, at: here, isActivity: false) === session)
        #expect(session.host == here)
    }

    @Test func `the use of a session at another host is reported once`() async throws {
        let fixture = SessionFixture()
        let (_, token) = try await fixture.begin(at: here)
        let (_, other) = try await fixture.begin("bob", at: elsewhere)
        for _ in 0..<3 { _ = fixture.table.session(token, at: elsewhere, isActivity: true) }
        _ = fixture.table.session(try OpaqueToken(), at: elsewhere, isActivity: true)
        _ = fixture.table.session(other, at: elsewhere, isActivity: true)
        #expect(fixture.wrongHosts.all == ["ann of app.example at www.example"])
    }

    @Test func `a restored session keeps its host`() async throws {
        let store = MemoryStore()
        let first = SessionFixture(store: store)
        let (session, token) = try await first.begin(at: here)
        let next = first.next(store: store)
        try await next.table.restore { _ in .user(.unknown) }
        #expect(next.table.session(token, at: elsewhere, isActivity: true) == nil)
        let found = try #require(next.table.session(token, at: here, isActivity: true))
        #expect(found.id == session.id && found.host == here)
    }

    @Test func `the sessions of a user include those at all hosts`() async throws {
        let fixture = SessionFixture()
        let (session, _) = try await fixture.begin(at: here)
        fixture.pass(1)
        let (other, _) = try await fixture.begin(at: elsewhere)
        #expect(fixture.table.sessions(of: session.user).map(\.id) == [session.id, other.id])
    }

    @Test(arguments: [
        "", "A.example", "a b", "a\u{301}", "a/b", "a@b", "a%", String(repeating: "a", count: 256), "\u{212A}",
    ])
    func `an invalid host is rejected`(text: String) {
        #expect(SessionHost(text) == nil)
    }

    @Test(arguments: ["a", "app.example", "192.0.2.1", "[2001:db8::1]", "a_b-c", String(repeating: "a", count: 255)])
    func `lower-case names and addresses are valid hosts`(text: String) {
        #expect(SessionHost(text)?.name == text)
        #expect(SessionHost(text) == SessionHost(text))
        #expect(SessionHost(text) != SessionHost("b"))
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Sessions
import Store
import Testing

@testable import SignIn

/// Tests of the message of the administrator to all users.
@Suite struct AnnouncementTests {
    private let clock = ManualClock(now: 1_000_000_000_000)
    private let store: GatehouseStore
    private let server: TestServer
    private let client: TestClient

    init() throws {
        store = try GatehouseStore.inMemory()
        server = try TestServer(SignInTests.configuration, clock: clock, announcements: store)
        client = TestClient(server)
    }

    private static let html = "<p class=\"notice\" role=\"note\">Maintenance at &lt;noon&gt; &amp; later</p>"

    private func set(_ text: String = "Maintenance at <noon> & later", until end: Int = 1_800_001_600) async throws {
        try await store.setAnnouncement(Announcement(text, until: end))
        try await server.service.announcement.refresh()
    }

    @Test func `the sign-in page, the page of a code and the account page show the message, escaped`() async throws {
        try await set()
        #expect(try await client.get("/sign-in").body.contains(Self.html))
        let code = try await client.follow(try await client.signIn("tom", at: "/sign-in?return=/twice"))
        #expect(code.input("number") != nil && code.body.contains(Self.html))
        // A user who signs in after the message was set gets it, too.
        _ = try await client.signIn("zed")
        let account = try await client.get("/account")
        #expect(account.body.contains(Self.html) && !account.body.contains("<noon>"))
        #expect(try await !client.get("/welcome").body.contains("Maintenance"))
        // Other programs get it as text.
        #expect(try await client.send("GET", "/sign-in", []).body.contains("\nMaintenance at <noon> & later\n"))
    }

    @Test func `the message comes before a notice and before the form, and is no error`() async throws {
        try await set()
        let page = try await client.follow(try await client.signIn("bob"))
        let places = ["role=\"note\"", "role=\"alert\"", "<form"].map { page.body.firstRange(of: $0)?.lowerBound }
        let found = places.compactMap(\.self)
        #expect(found.count == 3 && found == found.sorted())
        #expect(try await client.get("/sign-in").body.contains("<title>Sign in - Gatehouse</title>"))
    }

    @Test func `the message vanishes at its end, and when it is removed or replaced`() async throws {
        try await set()
        clock.advance(by: .seconds(599))
        #expect(try await client.get("/sign-in").body.contains(Self.html))
        clock.advance(by: .seconds(1))
        #expect(try await !client.get("/sign-in").body.contains("role=\"note\""))
        try await set("First", until: 1_800_009_000)
        try await set("Second", until: 1_800_009_000)
        let page = try await client.get("/sign-in")
        #expect(page.body.contains(">Second</p>") && !page.body.contains("First"))
        try await store.setAnnouncement(nil)
        try await server.service.announcement.refresh()
        #expect(try await !client.get("/sign-in").body.contains("role=\"note\""))
    }

    @Test func `the server reads a change of the message within a second`() async throws {
        let service = server.service
        let running = Task { await service.announcement.run { _ in Issue.record("the store has failed") } }
        defer { running.cancel() }
        for text in ["Soon", nil, "Now"] {
            try await store.setAnnouncement(text.map { Announcement($0, until: 1_800_009_000) })
            await clock.untilAsleep()
            #expect(service.announcement.text != text)
            clock.advance(by: .seconds(1))
            await clock.untilAsleep()
            #expect(service.announcement.text == text)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import DatabaseTesting
import RealmKit
import RealmTesting
import Testing

@testable import RealmSQL

/// A primary server and a standby server, of which one fails.
@Suite(.enabled(if: PostgreSQLSetup.problem == nil, "\(PostgreSQLSetup.problem ?? "")"))
struct FailOverTests {
    /// Waits until a standby server has received all changes.
    private static func catchUp(_ standby: PostgreSQLServer, with primary: PostgreSQLServer) async throws {
        let position = try primary.sql("SELECT pg_current_wal_lsn()")
        let end = ContinuousClock.now + .seconds(30)
        while try standby.sql("SELECT pg_last_wal_replay_lsn() >= '\(position)'") != "t" {
            try #require(ContinuousClock.now < end)
        }
    }

    @Test(arguments: ["kill", "stop", "suspend"])
    func `no login fails while a standby server answers, and the primary is used again`(_ fault: String) async throws {
        let primary = try PostgreSQLSetup.server()
        let standby = try primary.standby()
        var properties = try PostgreSQLSetup.properties(primary, standby)
        properties.merge(["connect-timeout": "500ms", "query-timeout": "500ms", "connections": "4"]) { $1 }
        let fixture = try SQLFixture(properties)
        try PostgreSQLSetup.add("ann", hash: try await fixture.hash("correct horse"), groups: ["staff"], to: primary)
        try await Self.catchUp(standby, with: primary)

        // The pool opens its connections.
        for _ in 0..<8 { #expect(try await fixture.outcome("ann", "correct horse") == "accepted") }
        let before = try await Self.logins(fixture, count: 100)
        switch fault {
        case "kill": primary.kill()
        case "stop": primary.stop()
        default: primary.suspend()
        }
        let during = try await Self.logins(fixture, count: 400)
        #expect(before.refused == 0 && before.granted == 0)
        #expect(during.refused == 0, "false refusals")
        #expect(during.granted == 0, "false grants")
        // At most one login for each connection of the pool meets the fault.
        #expect(during.delayed[primary.port, default: 0] <= 4, "\(during)")
        #expect(during.servers == [standby.port], "\(during)")
        if fault == "suspend" { primary.resume() } else { try primary.start() }
        let end = ContinuousClock.now + .seconds(30)
        while try await Self.logins(fixture, count: 4).servers != [primary.port] {
            try #require(ContinuousClock.now < end, "the primary is not used again: \(fixture.messages)")
        }
        #expect(fixture.messages.contains { $0.contains("the server answers again") })
        primary.stop()
        standby.stop()
    }

    private struct Count {
        var refused = 0
        var granted = 0
        /// The logins that have met a fault of a server, by port.
        var delayed: [Int: Int] = [:]
        var servers: Set<Int> = []
    }

    /// Logs in many times, of which every fourth has a wrong password.
    private static func logins(_ fixture: SQLFixture, count: Int) async throws -> Count {
        try await withThrowingTaskGroup(of: (Bool, LoginReport).self) { group in
            var result = Count()
            func take(_ login: (Bool, LoginReport)) {
                let (isRight, report) = login
                if isRight, report.identity == nil { result.refused += 1 }
                if !isRight, report.refusal?.failure == .unavailable { result.refused += 1 }
                if !isRight, report.identity != nil { result.granted += 1 }
                var faulty: Set<Int> = []
                for note in report.notes where note.text.hasPrefix("localhost:") {
                    let parts = note.text.dropFirst("localhost:".count).split(separator: ":", maxSplits: 1)
                    guard let port = parts.first.flatMap({ Int($0) }) else { continue }
                    if parts.count == 1 { result.servers.insert(port) } else { faulty.insert(port) }
                }
                for port in faulty { result.delayed[port, default: 0] += 1 }
            }
            for number in 0..<count {
                if number >= 4, let login = try await group.next() { take(login) }
                let isRight = number % 4 != 3
                group.addTask {
                    (isRight, try await fixture.login("ann", isRight ? "correct horse" : "wrong horse"))
                }
            }
            for try await login in group { take(login) }
            return result
        }
    }

    @Test func `a promoted standby server takes the changes of passwords`() async throws {
        let primary = try PostgreSQLSetup.server()
        let standby = try primary.standby()
        var properties = try PostgreSQLSetup.properties(primary, standby)
        properties["update-password-query"] = PostgreSQLSetup.update
        let fixture = try SQLFixture(properties)
        let hash = try await fixture.hash("correct horse")
        for name in ["ann", "bob"] {
            try PostgreSQLSetup.add(name, hash: hash, columns: ", must_change", values: ", true", to: primary)
        }
        try await Self.catchUp(standby, with: primary)
        func change(_ name: String) async throws -> LoginReport {
            let new = Answer.secret(Secret(utf8: "battery staple"))
            let old = Answer.secret(Secret(utf8: "correct horse"))
            let conversation = RecordingConversation([.answers([old]), .answers([.none, new, new])])
            return try await fixture.login(name, "", asking: conversation)
        }
        primary.kill()
        // A standby server can answer, and cannot change a password.
        #expect(try await change("ann").refusal?.failure == .unavailable)
        #expect(try standby.sql("SELECT count(*) FROM users WHERE must_change") == "2")
        try standby.promote()
        let end = ContinuousClock.now + .seconds(30)
        while try await change("ann").identity == nil {
            try #require(ContinuousClock.now < end, "\(fixture.messages)")
        }
        #expect(try await fixture.outcome("ann", "battery staple") == "accepted")
        #expect(try await fixture.outcome("ann", "correct horse") == "wrong-credentials")
        #expect(try standby.sql("SELECT must_change FROM users WHERE name = 'ann'") == "f")
        standby.stop()
    }

    @Test func `a lagging replica does not accept the password that was changed here`() async throws {
        let primary = try PostgreSQLSetup.server()
        let standby = try primary.standby()
        // Reads prefer the standby server.
        var properties = try PostgreSQLSetup.properties(standby, primary)
        properties["update-password-query"] = PostgreSQLSetup.update
        let fixture = try SQLFixture(properties)
        try PostgreSQLSetup.add(
            "ann",
            hash: try await fixture.hash("correct horse"),
            columns: ", must_change",
            values: ", true",
            to: primary
        )
        try await Self.catchUp(standby, with: primary)
        try standby.sql("SELECT pg_wal_replay_pause()")
        let new = Answer.secret(Secret(utf8: "battery staple"))
        let conversation = RecordingConversation([
            .answers([.secret(Secret(utf8: "correct horse"))]), .answers([.none, new, new]),
        ])
        #expect(try await fixture.login("ann", "", asking: conversation).identity != nil)
        #expect(try standby.sql("SELECT must_change FROM users") == "t", "the standby does not lag")

        #expect(try await fixture.outcome("ann", "correct horse") == "wrong-credentials")
        let report = try await fixture.login("ann", "battery staple")
        #expect(report.identity != nil)
        #expect(report.notes.contains { $0.text.contains("has not received the new password") })
        // Without a primary server, nobody knows.
        primary.kill()
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        try primary.start()
        try standby.sql("SELECT pg_wal_replay_resume()")
        try await Self.catchUp(standby, with: primary)
        let end = ContinuousClock.now + .seconds(30)
        while try await fixture.outcome("ann", "battery staple") != "accepted" {
            try #require(ContinuousClock.now < end)
        }
        #expect(try await fixture.outcome("ann", "correct horse") == "wrong-credentials")
        primary.stop()
        standby.stop()
    }
}

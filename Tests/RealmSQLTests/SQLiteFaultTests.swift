// SPDX-License-Identifier: Apache-2.0

import Foundation
import Passwords
import RealmKit
import RealmSQL
import RealmTesting
import Testing

/// Configurations and SQLite files that cannot be used.
struct SQLiteFaultTests {
    private static func error(_ properties: [String: String]) -> String {
        do {
            _ = try SQLFixture(properties)
            return "none"
        } catch {
            return "\(error)"
        }
    }

    @Test(
        arguments: [
            (["user-table": "missing"], "no such table: missing"),
            (["password-column": "pass"], "no such column: t.pass"),
            (["group-name-column": "role"], "no such column: t.role"),
            (["group-table-user-name-column": "member"], "no such column: t.member"),
            (["user-table": "users; DROP TABLE users"], "user-table: is the name of a table"),
            (["user-name-column": "na\"me"], "user-name-column: is the name of a column"),
            (["password-query": "SELECT 1"], "password-query: must not be set together with user-table"),
            (["groups-query": "SELECT :user"], "groups-query: must not be set together with the names of tables"),
            (["datasource-jndi": "jdbc/x"], "datasource-jndi: must not be set together with database"),
            (["encoding": "Hex"], "encoding: needs digest-algorithm"),
            (["charset": "US-ASCII"], "charset: needs digest-algorithm"),
            (["digest-algorithm": "SHA-3"], "digest-algorithm: is one of MD5"),
            (["decoy": "bcrypt cost=99"], "decoy: "),
            (["db-user": "x"], "db-user: is for databases of PostgreSQL"),
            (["query-timeout": "2h"], "query-timeout: is from 1ms to 1h"),
            (["database": "users.db"], "database: is sqlite:PATH"), (["database": "sqlite:"], "database: has no path"),
            (
                ["update-password-query": "UPDATE users SET password = :password-hash WHERE name = :user"],
                "update-password-query: does not use :old-hash"
            ),
            (
                [
                    "update-password-query":
                        "UPDATE nil SET password = :password-hash WHERE name = :user AND p = :old-hash"
                ],
                "no such table: nil"
            ),
        ] as [([String: String], String)]
    )
    func `a mistake in the configuration is an error at load`(_ changes: [String: String], _ expected: String) throws {
        let file = try SQLiteFile.glassFish()
        let error = Self.error(file.glassFishProperties.merging(changes) { _, new in new })
        #expect(error.contains(expected), "\(error)")
    }

    @Test(arguments: [
        ("SELECT hash AS password FROM t WHERE name = :user", "returns no column username"),
        ("SELECT name AS username FROM t WHERE name = :user", "returns no column password"),
        ("SELECT name AS username, hash AS password, 1 AS enable FROM t WHERE name = :user", "the column enable"),
        ("SELECT name AS username, hash AS password, 1 AS username FROM t WHERE name = :user", "username twice"),
        ("SELECT name AS username, hash AS password FROM t WHERE name = :name", "the unknown parameter :name"),
        ("DELETE FROM t WHERE name = :user", "readonly database"),
        ("SELECT name AS username, hash AS password FROM t WHERE name = :user AND 'x", "unrecognized token"),
        ("SELECT name AS username, hash AS password FROM t WHERE name = :user AND \u{1}", "unrecognized token"),
        ("SELECT name AS username, hash AS password FROM t WHERE name = ':user'", "does not use :user"),
    ])
    func `a mistake in a query is an error at load`(_ query: String, _ expected: String) throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT)")
        let error = Self.error(["database": file.location, "password-query": query])
        #expect(error.contains(expected), "\(error)")
    }

    @Test(arguments: ["", "-wal", "-shm", "-journal"])
    func `a file that every user may write to is refused, and so is a file beside it that SQLite reads`(
        suffix: String
    ) throws {
        let file = try SQLiteFile.glassFish()
        let path = file.path + suffix
        if !suffix.isEmpty { try #require(FileManager.default.createFile(atPath: path, contents: nil)) }
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
        let error = Self.error(file.glassFishProperties)
        #expect(error.contains("every user of this machine may write to it; chmod o-w \(path)"), "\(error)")
    }

    @Test func `a file that every user may write to later makes logins unavailable until its mode is right`()
        async throws
    {
        let file = try SQLiteFile.glassFish()
        let fixture = try SQLFixture(file.glassFishProperties)
        try file.execute("INSERT INTO users VALUES ('ann', ?)", [try await fixture.hash("correct horse")])
        for (mode, outcome) in [(0o600, "accepted"), (0o666, "unavailable"), (0o640, "accepted")] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            #expect(try await fixture.outcome("ann", "correct horse") == outcome)
        }
        let message = "every user of this machine may write to it; chmod o-w \(file.path)"
        #expect(fixture.messages.contains { $0.contains(message) }, "\(fixture.messages)")
    }

    @Test func `a file that every user may replace is refused`() throws {
        let file = try SQLiteFile.glassFish()
        let folder = URL(fileURLWithPath: file.path).deletingLastPathComponent()
        let inner = folder.appendingPathComponent("open-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: inner) }
        let copy = inner.appendingPathComponent("users.db").path
        try FileManager.default.copyItem(atPath: file.path, toPath: copy)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: inner.path)
        var properties = file.glassFishProperties
        properties["database"] = "sqlite:\(copy)"
        let error = Self.error(properties)
        #expect(error.contains("may replace it; chmod o-w \(inner.path)"), "\(error)")
    }

    @Test func `the property of GlassFish's data source says what to set`() {
        #expect(Self.error(["datasource-jndi": "jdbc/app"]).contains("set database to the database itself"))
        #expect(Self.error([:]).contains("database: must be set"))
    }

    @Test func `a column that is dropped later makes logins unavailable, and the log names it`() async throws {
        let file = try SQLiteFile.glassFish()
        let fixture = try SQLFixture(file.glassFishProperties)
        try file.execute("INSERT INTO users VALUES ('ann', ?)", [try await fixture.hash("correct horse")])
        try file.execute("ALTER TABLE users RENAME COLUMN password TO secret")
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        #expect(fixture.messages.contains { $0.contains("no such column: t.password") }, "\(fixture.messages)")
        try file.execute("ALTER TABLE users RENAME COLUMN secret TO password")
        #expect(try await fixture.outcome("ann", "correct horse") == "accepted")
    }

    @Test func `an answer of more than 16 MiB makes logins unavailable, but not the list of users`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password FROM t WHERE name = :user OR 1",
            "list-query": "SELECT name AS username FROM t",
        ])
        try file.execute("INSERT INTO t VALUES ('ann', ?)", [try await fixture.hash("correct horse")])
        #expect(try await fixture.outcome("ann", "correct horse") == "accepted")
        try file.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 130000)
            INSERT INTO t SELECT printf('user%0150d', i), 'x' FROM n
            """
        )
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        let message = "password-query: the answer has more than 16 MiB"
        #expect(fixture.messages.contains { $0.contains(message) }, "\(fixture.messages)")
        #expect(try await fixture.realm.users().count == 130_001)
    }

    @Test func `groups of more than 16 MiB make the login unavailable, after the password`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password FROM t WHERE name = :user",
            "groups-query": """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 130000)
            SELECT printf('g%0150d', i) FROM n, t WHERE name = :user
            """,
        ])
        try file.execute("INSERT INTO t VALUES ('ann', ?)", [try await fixture.hash("correct horse")])
        #expect(try await fixture.outcome("ann", "wrong") == "wrong-credentials")
        #expect(try await fixture.outcome("nobody", "wrong") == "unknown-user")
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        let message = "groups-query: the answer has more than 16 MiB; user ann"
        #expect(fixture.messages.contains { $0.contains(message) }, "\(fixture.messages)")
    }

    @Test func `a file that is missing does not keep the configuration from loading`() async throws {
        let file = try SQLiteFile.glassFish()
        try FileManager.default.moveItem(atPath: file.path, toPath: file.path + ".old")
        let fixture = try SQLFixture(file.glassFishProperties)
        #expect(fixture.messages.contains { $0.contains("there is no file") })
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        try FileManager.default.moveItem(atPath: file.path + ".old", toPath: file.path)
    }

    @Test func `a file that is locked is waited for, up to the timeout`() async throws {
        let file = try SQLiteFile.glassFish()
        let fixture = try SQLFixture(file.glassFishProperties.merging(["query-timeout": "200ms"]) { $1 })
        try file.execute("INSERT INTO users VALUES ('ann', ?)", [try await fixture.hash("correct horse")])
        try file.run("BEGIN EXCLUSIVE")
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        #expect(fixture.messages.contains { $0.contains("locked by another program") }, "\(fixture.messages)")
        try file.run("COMMIT")
        // The server of the pool is checked in the background.
        let clock = ContinuousClock.now
        while try await fixture.outcome("ann", "correct horse") != "accepted" {
            try #require(ContinuousClock.now - clock < .seconds(30))
        }
    }

    @Test func `the realm keeps the contract while its file is missing`() async throws {
        let columns = "name TEXT, hash TEXT, enabled INT, must INT"
        let file = try SQLiteFile("CREATE TABLE t (\(columns))", "CREATE TABLE g (name, grp)")
        let fixture = try SQLFixture()
        var users: [RealmBackEndConformance.User] = []
        for (name, groups) in [("ann", ["staff"]), ("bob", ["staff", "crew"]), ("off", [])] {
            let secret = RealmBackEndConformance.randomPassword()
            let hash = try await fixture.hash(secret)
            try file.execute("INSERT INTO t VALUES (?, ?, ?, 0)", [name, hash, name != "off"])
            for group in groups { try file.execute("INSERT INTO g VALUES (?, ?)", [name, group]) }
            users.append(.init(name, password: secret, groups: groups))
        }
        let given = fixture.services
        let properties = [
            "database": [file.location], "check-interval": ["100ms"],
            "password-query": [
                "SELECT name AS username, hash AS password, enabled, must AS must_change FROM t WHERE name = :user"
            ],
            "groups-query": ["SELECT grp FROM g WHERE name = :user"],
            "update-password-query": [
                "UPDATE t SET hash = :password-hash, must = 0 WHERE name = :user AND hash = :old-hash"
            ],
        ]
        let path = file.path
        var conformance = RealmBackEndConformance(
            users: Array(users[..<2]),
            rejectedUsers: Array(users[2...]),
            faults: [
                BackEndFault("the file is missing", causes: ["there is no file"]) {
                    try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
                } end: {
                    try FileManager.default.moveItem(atPath: path + ".old", toPath: path)
                }
            ],
            deadline: .seconds(10)
        ) { services in
            var all = given
            all[RealmLog.self] = services[RealmLog.self]
            return try .forConformance(
                RealmKind(SQLRealm.self, modules: SQLLoginModule.self),
                properties: properties,
                services: all,
                deadline: .seconds(10)
            )
        }
        let secret = RealmBackEndConformance.randomPassword()
        try file.execute("INSERT INTO t VALUES ('new', ?, 1, 1)", [try await fixture.hash(secret)])
        conformance.usersWithProblems = [.init("new", password: secret)]
        conformance.stored = { try #require(try file.value("SELECT group_concat(name || hash || must) FROM t")) }
        let pool = fixture.pool
        conformance.computations = { pool.statistics.computed }
        conformance.skip(
            .deadline,
            .cancellation,
            .release,
            reason: "a file of SQLite does not hang; the waits for connections are tested with PostgreSQL"
        )
        let report = await conformance.check()
        #expect(report.violations == [])
        #expect(report.checked.count == RealmBackEndConformance.Check.allCases.count - 3, "\(report)")
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import OpenSSLKit
import RealmKit
import RealmTesting
import Testing

@testable import RealmSQL

/// Logins with users in SQLite files.
struct SQLiteLoginTests {
    @Test func `a user in tables of GlassFish signs in with the groups`() async throws {
        let file = try SQLiteFile.glassFish()
        let fixture = try SQLFixture(file.glassFishProperties)
        try file.execute("INSERT INTO users VALUES ('ann', ?)", [try await fixture.hash("correct horse")])
        try file.execute("INSERT INTO memberships VALUES ('ann', 'staff'), ('ann', 'crew'), ('bob', 'other')")

        let report = try await fixture.login("ann", "correct horse")
        #expect(report.identity?.username.text == "ann")
        #expect(report.identity?.groups.sorted() == ["crew", "staff"])
        #expect(report.notes.contains { $0.text.contains("groups-query") && $0.text.contains("rows: 2") })
        #expect(try await fixture.outcome("ann", "wrong horse") == "wrong-credentials")
        #expect(try await fixture.outcome("ann", "") == "wrong-credentials")
        #expect(try await fixture.outcome("bob", "correct horse") == "unknown-user")
        #expect(fixture.messages.isEmpty, "\(fixture.messages)")
    }

    @Test(
        arguments: [
            ("MD5", "Hex", "5ebe2294ecd0e0f08eab7690d2a6ee69"),
            ("SHA-1", "Hex", "E5E9FA1BA31ECD1AE84F75CAAA474F3A663F05F4"),
            ("SHA-256", "Hex", "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"),
            ("SHA-256", "Base64", "K7gNU3sdo+OL0wNhqoVWhr3g6s1xYv72ol/pe/Unols="),
            (
                "SHA-512", "Base64",
                "vSsar3708Jvp9Szi2NWZZ02Bqp1qRCFpbcTZPdBhnWgs5WtNZKnvCXdhztmeD2cmW192CF5bDufKRpayrW/isg=="
            ),
            ("none", nil, "secret"),
        ] as [(String, String?, String)]
    )
    func `digests of GlassFish match the password and nothing else`(
        _ algorithm: String,
        _ encoding: String?,
        _ digest: String
    ) async throws {
        let file = try SQLiteFile.glassFish()
        var properties = file.glassFishProperties
        properties["digest-algorithm"] = algorithm
        properties["encoding"] = encoding
        let fixture = try SQLFixture(properties)
        var stored = ["right": digest]
        if encoding == "Base64" {
            // MIME ends a line after 76 characters.
            stored["lines"] = String(digest.prefix(20)) + "\r\n" + String(digest.dropFirst(20))
        }
        for (name, text) in stored { try file.execute("INSERT INTO users VALUES (?, ?)", [name, text]) }
        for name in stored.keys {
            #expect(try await fixture.outcome(name, "secret") == "accepted", "\(name)")
            #expect(try await fixture.outcome(name, "Secret") == "wrong-credentials")
            #expect(try await fixture.outcome(name, "") == "wrong-credentials")
        }
        #expect(fixture.messages.count { $0.contains("clear text") } == (algorithm == "none" ? 1 : 0))
    }

    @Test func `an empty, cut or padded digest matches no password`() async throws {
        let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
        let file = try SQLiteFile.glassFish()
        var properties = file.glassFishProperties
        properties["digest-algorithm"] = "SHA-256"
        let fixture = try SQLFixture(properties)
        let values: [String?] =
            [nil, "", " ", digest + "00", digest + digest, "zz" + digest.dropFirst(2), "\n" + digest]
            + (1..<64).map { String(digest.prefix($0)) }
        for (number, value) in values.enumerated() {
            try file.execute("INSERT INTO users VALUES (?, ?)", ["user\(number)", value])
        }
        for number in values.indices {
            for password in ["secret", "", "other"] {
                #expect(try await fixture.outcome("user\(number)", password) == "wrong-credentials", "\(number)")
            }
        }
    }

    @Test func `a password in another character set matches its digest`() async throws {
        let file = try SQLiteFile.glassFish()
        var properties = file.glassFishProperties
        properties["digest-algorithm"] = "SHA-256"
        properties["charset"] = "ISO-8859-1"
        let fixture = try SQLFixture(properties)
        func store(_ name: String, _ bytes: [UInt8]) throws {
            try file.execute("INSERT INTO users VALUES (?, ?)", [name, try Digest.sha256(bytes).hex])
        }
        try store("ann", [0x67, 0x72, 0xFC, 0x6E])
        try store("bob", [0x3F])
        #expect(try await fixture.outcome("ann", "gr\u{FC}n") == "accepted")
        #expect(try await fixture.outcome("ann", "grun") == "wrong-credentials")
        #expect(try await fixture.outcome("bob", "\u{20AC}") == "wrong-credentials", "Java would write a question mark")
        #expect(try await fixture.outcome("bob", "?") == "accepted")
    }

    @Test func `the states of accounts are told apart, and only with the right password`() async throws {
        let file = try SQLiteFile(
            "CREATE TABLE t (name TEXT, hash TEXT, enabled INT, locked TEXT, expires TEXT, pwexp TEXT, must INT)"
        )
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": """
            SELECT name AS username, hash AS password, enabled, locked, expires, pwexp AS password_expires,
                must AS "must-change" FROM t WHERE name = :user
            """,
        ])
        let hash = try await fixture.hash("correct horse")
        let rows: [(String, [(any Sendable)?], String)] = [
            ("ok", [1, "f", nil, nil, 0], "accepted"), ("never", [1, "no", "infinity", nil, nil], "accepted"),
            ("later", [1, nil, "2040-01-01", "2040-01-01 00:00:00+00", 0], "accepted"),
            ("off", [0, "f", nil, nil, 0], "disabled"), ("null", [nil, "f", nil, nil, 0], "disabled"),
            ("locked", [1, "true", nil, nil, 0], "locked"),
            ("past", [1, "f", "1799999999", nil, 0], "account-expired"),
            ("now", [1, "f", "1800000000", nil, 0], "account-expired"),
            ("date", [1, "f", "2027-01-15 07:59:59+00", nil, 0], "account-expired"),
            ("offset", [1, "f", "2027-01-15T09:59:59.5+02:00", nil, 0], "account-expired"),
            ("old", [1, "f", nil, "2020-01-01T00:00:00Z", 0], "credential-expired"),
            ("new", [1, "f", nil, nil, 1], "credential-expired"),
            ("millis", [1, "f", "1800000000000", nil, 0], "unavailable"),
            ("word", [1, "perhaps", nil, nil, 0], "unavailable"),
        ]
        for (name, values, _) in rows {
            let all: [(any Sendable)?] = [name, hash] + values
            let texts = all.map { value in value.map { "\($0)" } }
            try file.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", texts)
        }
        for (name, _, outcome) in rows {
            #expect(try await fixture.outcome(name, "correct horse") == outcome, "\(name)")
            // A state that cannot be read must not reveal that the user exists, either.
            #expect(try await fixture.outcome(name, "wrong") == "wrong-credentials", "\(name)")
        }
        let cause = "password-query: a value of the column locked is not true or false"
        let report = try await fixture.login("word", "wrong")
        #expect(report.notes.map(\.text).contains { $0.contains(cause) })
        #expect(fixture.messages.contains { $0.contains("password-query: a value of the column expires is neither") })
    }

    @Test func `a state query without a row disables the account`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT)", "CREATE TABLE s (name TEXT, enabled INT)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password FROM t WHERE name = :user",
            "state-query": "SELECT enabled FROM s WHERE name = :user",
        ])
        let hash = try await fixture.hash("correct horse")
        for name in ["ann", "bob", "cid"] { try file.execute("INSERT INTO t VALUES (?, ?)", [name, hash]) }
        try file.execute("INSERT INTO s VALUES ('ann', 1), ('bob', 0)")
        #expect(try await fixture.outcome("ann", "correct horse") == "accepted")
        #expect(try await fixture.outcome("bob", "correct horse") == "disabled")
        #expect(try await fixture.outcome("cid", "correct horse") == "disabled")
    }

    @Test func `a column of the state in both queries makes logins unavailable`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT, enabled INTEGER)")
        let fixture = try SQLFixture([
            "database": file.location, "check-at-load": "false",
            "password-query": "SELECT name AS username, hash AS password, enabled FROM t WHERE name = :user",
            "state-query": "SELECT 1 AS enabled FROM t WHERE name = :user",
        ])
        try file.execute("INSERT INTO t VALUES ('ann', ?, 0)", [try await fixture.hash("correct horse")])
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        let cause = "state-query and password-query both return the column enabled; one of them must not"
        #expect(fixture.messages.contains { $0.contains(cause) }, "\(fixture.messages)")
    }

    @Test func `texts are neither cut at NUL nor changed, and blanks count`() async throws {
        let file = try SQLiteFile(
            "CREATE TABLE t (name TEXT, password TEXT)",
            "CREATE TABLE g (name TEXT, grp TEXT)",
            "INSERT INTO t VALUES ('ann', 'secret' || char(0) || 'longer'), ('ben', 'secret'), ('eve', 'secret')",
            "INSERT INTO g VALUES ('ben', 'admin' || char(0) || 'x'), ('ben', 'crew '), ('ben', 'crew')",
            "INSERT INTO g VALUES ('eve', CAST(x'61ff62' AS TEXT))"
        )
        let fixture = try SQLFixture([
            "database": file.location, "digest-algorithm": "none",
            "password-query": "SELECT name AS username, password FROM t WHERE name = :user",
            "groups-query": "SELECT grp FROM g WHERE name = :user", "list-query": "SELECT name AS username FROM t",
        ])
        #expect(try await fixture.outcome("ann", "secret") == "wrong-credentials")
        #expect(try await fixture.login("ben", "secret").identity?.groups == ["crew ", "crew"])
        #expect(try await fixture.outcome("eve", "secret") == "unavailable")
        #expect(try await fixture.outcome("eve", "wrong") == "wrong-credentials")
        #expect(fixture.messages.contains { $0.contains("groups-query: a value is not UTF-8") })
        // A row without a name is no user.
        try file.execute("INSERT INTO t VALUES (NULL, 'secret')")
        #expect(try await fixture.realm.users().map(\.name.text) == ["ann", "ben", "eve"])
    }

    @Test func `a state that is not UTF-8 makes the right password unavailable, and a lock counts first`() async throws
    {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT, enabled, locked)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password, enabled, locked FROM t WHERE name = :user",
        ])
        let hash = try await fixture.hash("correct horse")
        for (name, locked) in [("ann", 0), ("ben", 1)] {
            try file.execute("INSERT INTO t VALUES (?, ?, CAST(x'ff' AS TEXT), ?)", [name, hash, locked])
        }
        try file.execute("INSERT INTO t VALUES ('eve', ?, 'perhaps', 1), (CAST(x'ff' AS TEXT), ?, 1, 0)", [hash, hash])
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        #expect(fixture.messages.contains { $0.contains("password-query: a value is not UTF-8; user ann") })
        for name in ["ben", "eve"] { #expect(try await fixture.outcome(name, "correct horse") == "locked") }
        for name in ["ann", "ben", "eve"] { #expect(try await fixture.outcome(name, "wrong") == "wrong-credentials") }
    }

    @Test func `a lock in state-query counts although another value of its row is not UTF-8`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT); CREATE TABLE s (name TEXT, expires, locked)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password FROM t WHERE name = :user",
            "state-query": "SELECT expires, locked FROM s WHERE name = :user",
        ])
        let hash = try await fixture.hash("correct horse")
        for (name, locked) in [("ann", 0), ("ben", 1)] {
            try file.execute("INSERT INTO t VALUES (?, ?)", [name, hash])
            try file.execute("INSERT INTO s VALUES (?, CAST(x'ff' AS TEXT), ?)", [name, locked])
        }
        #expect(try await fixture.outcome("ben", "correct horse") == "locked")
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        for name in ["ann", "ben"] { #expect(try await fixture.outcome(name, "wrong") == "wrong-credentials") }
    }

    @Test func `a name or a stored password that is not UTF-8 matches nothing, and the log says why`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password FROM t WHERE name = :user OR :user = 'eve'",
        ])
        try file.execute("INSERT INTO t VALUES ('ann', CAST(x'ff' AS TEXT))", [])
        #expect(try await fixture.outcome("ann", "correct horse") == "wrong-credentials")
        #expect(fixture.messages.contains { $0.contains("password-query: a value is not UTF-8; user ann") })
        try file.execute("DELETE FROM t", [])
        try file.execute("INSERT INTO t VALUES (CAST(x'ff' AS TEXT), ?)", [try await fixture.hash("correct horse")])
        #expect(try await fixture.outcome("eve", "correct horse") == "unknown-user")
    }

    @Test func `wrong passwords of a user whose row cannot be read do not fill the log`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT, enabled)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password, enabled FROM t WHERE name = :user",
        ])
        try file.execute("INSERT INTO t VALUES ('ann', ?, 'perhaps')", [try await fixture.hash("correct horse")])
        #expect(try await fixture.outcome("ann", "wrong") == "wrong-credentials")
        #expect(fixture.messages == [])
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        #expect(fixture.messages.contains { $0.contains("is not true or false; user ann") }, "\(fixture.messages)")
    }

    @Test func `a user with more groups than allowed is refused`() async throws {
        let file = try SQLiteFile.glassFish()
        let properties = file.glassFishProperties
        let fixture = try SQLFixture(properties.merging(["maximum-groups": "2"]) { $1 })
        try file.execute("INSERT INTO users VALUES ('ann', ?)", [try await fixture.hash("correct horse")])
        try file.execute("INSERT INTO memberships VALUES ('ann', 'a'), ('ann', 'b')")
        #expect(try await fixture.outcome("ann", "correct horse") == "accepted")
        try file.execute("INSERT INTO memberships VALUES ('ann', 'c')")
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        #expect(try await fixture.outcome("ann", "wrong") == "wrong-credentials")
        #expect(fixture.messages.contains { $0.contains("the user has more than 2 groups (maximum-groups)") })
    }

    @Test func `several rows for a name refuse the user`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password FROM t WHERE lower(name) = lower(:user)",
            "case-sensitive": "false",
        ])
        let hash = try await fixture.hash("correct horse")
        for name in ["ann", "Ann", "Bob"] { try file.execute("INSERT INTO t VALUES (?, ?)", [name, hash]) }
        #expect(try await fixture.outcome("ann", "correct horse") == "disabled")
        let bob = try await fixture.login("bob", "correct horse")
        #expect(bob.identity?.username.text == "Bob")
        #expect(fixture.messages.contains { $0.contains("several rows") })
    }

    @Test(arguments: ["true", "false"])
    func `a user whose name others have written into another column signs in, and they do not`(
        isCaseSensitive: String
    ) async throws {
        let file = try SQLiteFile(
            "CREATE TABLE t (name TEXT, mail TEXT, hash TEXT)",
            "CREATE TABLE memberships (name TEXT, grp TEXT)"
        )
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password FROM t WHERE name = :user OR mail = :user",
            "groups-query": "SELECT grp FROM memberships WHERE name = :user", "case-sensitive": isCaseSensitive,
        ])
        for (name, mail) in [("eve", "ann"), ("ann", "ann@x"), ("bob", "ann"), ("kim", "ghost")] {
            try file.execute(
                "INSERT INTO t VALUES (?, ?, ?)",
                [name, mail, try await fixture.hash("password of \(name)")]
            )
        }
        try file.execute("INSERT INTO memberships VALUES ('ann', 'staff'), ('ghost', 'admins')")
        let ann = try await fixture.login("ann", "password of ann")
        #expect(ann.identity?.username.text == "ann" && ann.identity?.groups == ["staff"])
        #expect(try await fixture.outcome("ann", "password of eve") == "wrong-credentials")
        // No other column is a name, so no name of another user can be taken.
        #expect(try await fixture.outcome("ghost", "password of kim") == "unknown-user")
        #expect(try await fixture.outcome("ann@x", "password of ann") == "unknown-user")
    }

    @Test func `a value that is not UTF-8 in the row of another user does not keep a user out`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, mail TEXT, hash TEXT)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password FROM t WHERE name = :user OR mail = :user",
        ])
        let hash = try await fixture.hash("correct horse")
        try file.execute("INSERT INTO t VALUES ('eve', 'ann', CAST(x'ff' AS TEXT)), (NULL, 'ann', ?)", [hash])
        try file.execute("INSERT INTO t VALUES (CAST(x'ff' AS TEXT), 'ann', ?), ('ann', 'ann@x', ?)", [hash, hash])
        #expect(try await fixture.outcome("ann", "correct horse") == "accepted", "\(fixture.messages)")
        #expect(try await fixture.outcome("ann", "wrong") == "wrong-credentials")
        #expect(!fixture.messages.contains { $0.contains("not UTF-8") })
        #expect(try await fixture.outcome("eve", "correct horse") == "wrong-credentials")
        #expect(fixture.messages.contains { $0.contains("password-query: a value is not UTF-8; user eve") })
    }

    @Test func `another spelling of a name is another name`() async throws {
        let file = try SQLiteFile(
            "CREATE TABLE users (name TEXT COLLATE NOCASE, password TEXT)",
            "CREATE TABLE memberships (name, grp)"
        )
        var properties = file.glassFishProperties
        let fixture = try SQLFixture(properties)
        try file.execute("INSERT INTO users VALUES ('Ann', ?)", [try await fixture.hash("correct horse")])
        #expect(try await fixture.outcome("Ann", "correct horse") == "accepted")
        #expect(try await fixture.outcome("ann", "correct horse") == "unknown-user")
        properties["case-sensitive"] = "false"
        try fixture.use(properties)
        // The groups are compared by bytes, and must not depend on the spelling.
        try file.execute("INSERT INTO memberships VALUES ('Ann', 'staff'), ('ANN', 'admins')")
        for name in ["ANN", "ann", "Ann"] {
            let report = try await fixture.login(name, "correct horse")
            #expect(report.identity?.username.text == "Ann")
            #expect(report.identity?.groups == ["staff"], "\(name)")
        }
    }

    @Test func `a query that computes for long ends at the time limit, and when the login is cancelled`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT)")
        let counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000000000) "
        let fixture = try SQLFixture([
            "database": file.location, "query-timeout": "300ms", "check-at-load": "false",
            "password-query":
                "\(counting) SELECT :user AS username, max(i) AS password FROM n",
        ])
        let start = ContinuousClock.now
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        let task = Task { try await fixture.login("ann", "correct horse") }
        task.cancel()
        _ = await task.result
        #expect(start.duration(to: .now) < .seconds(30))
    }

    @Test func `attributes and groups come from queries of their own`() async throws {
        let file = try SQLiteFile(
            "CREATE TABLE t (name TEXT, hash TEXT, mail TEXT, full TEXT)",
            "CREATE TABLE g (name TEXT, grp TEXT)"
        )
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password FROM t WHERE name = :user -- :old-hash",
            "groups-query": "SELECT grp FROM g WHERE name = :user;",
            "attributes-query": #"SELECT mail, full AS "displayName" FROM t WHERE name = :user"#,
            "list-query": "SELECT name AS username FROM t ORDER BY name DESC",
        ])
        let hash = try await fixture.hash("correct horse")
        try file.execute("INSERT INTO t VALUES ('ann', ?, 'ann@example.org', 'Ann A.')", [hash])
        try file.execute("INSERT INTO t VALUES ('bob', ?, NULL, 'Bob')", [hash])
        try file.execute("INSERT INTO g VALUES ('ann', 'staff'), ('ann', NULL), ('ann', 'staff'), ('ann', 'a\u{7}b')")
        let report = try await fixture.login("ann", "correct horse")
        #expect(report.identity?.groups == ["staff"])
        #expect(report.identity?.attributes.values(of: "mail") == ["ann@example.org"])
        #expect(report.identity?.attributes.values(of: "displayName") == ["Ann A."])
        #expect(try await fixture.realm.users().map(\.name.text) == ["bob", "ann"])
        let record = try #require(try await fixture.realm.user(Username("ann")))
        #expect(record.groups == ["staff"] && record.format == "argon2id m=64,t=1,p=1")
        #expect(try await fixture.realm.groupNames(of: Username("bob")).isEmpty)
        #expect(try await fixture.realm.user(Username("cid")) == nil)
    }

    @Test func `the state of a user changes with the hash, the groups and the account`() async throws {
        let file = try SQLiteFile.glassFish()
        let fixture = try SQLFixture(file.glassFishProperties)
        let ann = try Username("ann")
        #expect(await fixture.realm.state(of: ann) == .gone)
        try file.execute("INSERT INTO users VALUES ('ann', ?)", [try await fixture.hash("correct horse")])
        let first = await fixture.realm.state(of: ann)
        #expect(first.stamp != nil)
        #expect(await fixture.realm.state(of: ann) == first)
        try file.execute("INSERT INTO memberships VALUES ('ann', 'staff')")
        let second = await fixture.realm.state(of: ann)
        #expect(second.stamp != nil && second != first)
        #expect(await fixture.realm.refresh() == .none)
    }

    @Test func `a weak hash is replaced when its user signs in, and only then`() async throws {
        let file = try SQLiteFile.glassFish()
        var properties = file.glassFishProperties
        properties["digest-algorithm"] = "SHA-256"
        properties["update-password-query"] =
            "UPDATE users SET password = :password-hash WHERE name = :user AND password = :old-hash"
        let fixture = try SQLFixture(properties)
        let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
        try file.execute("INSERT INTO users VALUES ('ann', ?), ('bob', ?)", [digest, digest])
        #expect(try await fixture.outcome("ann", "wrong") == "wrong-credentials")
        #expect(try file.value("SELECT password FROM users WHERE name = 'ann'") == digest)
        #expect(try await fixture.outcome("ann", "secret") == "accepted")
        let stored = try #require(try file.value("SELECT password FROM users WHERE name = 'ann'"))
        #expect(stored.hasPrefix("$argon2id$"))
        #expect(try file.value("SELECT password FROM users WHERE name = 'bob'") == digest)
        #expect(try await fixture.outcome("ann", "secret") == "accepted")
        #expect(try file.value("SELECT password FROM users WHERE name = 'ann'") == stored)
        #expect(fixture.messages.isEmpty, "\(fixture.messages)")
    }

    /// The DES hash of `password`, and the bcrypt hash of 72 letters `a`.
    private static let truncating =
        "('ann', 'zZDDIZ0NOlPzw'), ('bob', '$2b$04$CCCCCCCCCCCCCCCCCCCCC.mDyzbhj.9K0apb9O/AGMWwoLXiYAu6u')"

    @Test func `a password beyond the bytes of its hash is refused, unless truncated-passwords is set`() async throws {
        let file = try SQLiteFile.glassFish()
        try file.execute("INSERT INTO users VALUES \(Self.truncating)")
        let long = String(repeating: "a", count: 80)
        var properties = file.glassFishProperties
        properties["update-password-query"] =
            "UPDATE users SET password = :password-hash WHERE name = :user AND password = :old-hash"
        let fixture = try SQLFixture(properties)
        #expect(fixture.messages.contains { $0.contains("hashes of the first 8 bytes of a password") })
        #expect(try await fixture.outcome("ann", "password and more") == "unusable-credential")
        #expect(try await fixture.outcome("bob", long) == "unusable-credential")
        let before = fixture.messages.count
        properties["truncated-passwords"] = "true"
        try fixture.use(properties)
        for (name, password, other) in [("ann", "password and more", "password"), ("bob", long, long + "b")] {
            #expect(try await fixture.outcome(name, "wrong " + password) == "wrong-credentials")
            #expect(try await fixture.outcome(name, password) == "accepted")
            #expect(try await fixture.outcome(name, other) == "wrong-credentials")
            #expect(try await fixture.outcome(name, password) == "accepted")
        }
        #expect(fixture.messages.count == before, "\(fixture.messages)")
        properties["rehash"] = "false"
        #expect(throws: BadRealm.self) { try fixture.use(properties) }
    }

    @Test(arguments: ["", "!", "!!", "*LK*", "x", "{CRYPT}*", "!bpl6yOQnr5KfNTvGKfdVpGFnLVtNcWbVtJdhLHzb"])
    func `a mark for no password refuses its user without a message`(mark: String) async throws {
        let file = try SQLiteFile.glassFish()
        try file.execute("INSERT INTO users VALUES ('ann', ?)", [mark])
        for algorithm in [nil, "SHA-256"] {
            var properties = file.glassFishProperties
            properties["digest-algorithm"] = algorithm
            let fixture = try SQLFixture(properties)
            for password in ["", "x", "!", mark] where !password.isEmpty || mark.isEmpty {
                #expect(try await fixture.outcome("ann", password) == "wrong-credentials")
            }
            #expect(await fixture.realm.state(of: try Username("ann")) == .gone)
            #expect(fixture.messages.isEmpty, "\(fixture.messages)")
        }
    }

    @Test func `in a column of clear text, a password may look like a mark`() async throws {
        let file = try SQLiteFile.glassFish()
        try file.execute("INSERT INTO users VALUES ('ann', '!'), ('bob', '')")
        var properties = file.glassFishProperties
        properties["digest-algorithm"] = "none"
        let fixture = try SQLFixture(properties)
        #expect(try await fixture.outcome("ann", "!") == "accepted")
        #expect(try await fixture.outcome("bob", "") == "wrong-credentials")
    }

    @Test func `an update that changes other rows is undone`() async throws {
        let file = try SQLiteFile.glassFish()
        var properties = file.glassFishProperties
        properties["digest-algorithm"] = "none"
        properties["update-password-query"] =
            "UPDATE users SET password = :password-hash WHERE :user <> '' AND password = :old-hash"
        let fixture = try SQLFixture(properties)
        try file.execute("INSERT INTO users VALUES ('ann', 'secret'), ('bob', 'secret')")
        #expect(try await fixture.outcome("ann", "secret") == "accepted")
        #expect(try file.value("SELECT count(*) FROM users WHERE password = 'secret'") == "2")
        #expect(fixture.messages.contains { $0.contains("changed 2 rows") })
    }

    @Test func `while an account is locked, a right password shows neither a broken row nor a question`() async throws {
        let file = try SQLiteFile(
            "CREATE TABLE t (name TEXT, hash TEXT, must INT)",
            "CREATE TABLE g (name TEXT, grp TEXT)"
        )
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query":
                "SELECT name AS username, hash AS password, must AS must_change FROM t WHERE name = :user",
            "groups-query": "SELECT grp FROM g WHERE name = :user",
            "update-password-query":
                "UPDATE t SET hash = :password-hash, must = 0 WHERE name = :user AND hash = :old-hash",
        ])
        let hash = try await fixture.hash("correct horse")
        try file.execute("INSERT INTO t VALUES ('ann', ?, 0), ('bob', ?, 1)", [hash, hash])
        try file.execute("INSERT INTO g VALUES ('ann', CAST(x'ff41' AS TEXT))")
        #expect(try await fixture.outcome("ann", "correct horse") == "unavailable")
        for (name, password) in [
            ("ann", "correct horse"), ("ann", "wrong"), ("bob", "correct horse"), ("bob", "wrong"),
        ] {
            let conversation = RecordingConversation(password: password)
            let report = try await fixture.login(name, password, asking: conversation, mayGrant: false)
            #expect(report.refusal == .locked && !report.isUnavailable, "\(name) \(password)")
            #expect(conversation.questions.count == 1)
        }
        #expect(try file.value("SELECT count(*) FROM t WHERE hash = '\(hash)'") == "2")
    }

    @Test func `an expired password is changed in the login dialog`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT, must INT)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query":
                "SELECT name AS username, hash AS password, must AS must_change FROM t WHERE name = :user",
            "update-password-query":
                "UPDATE t SET hash = :password-hash, must = 0 WHERE name = :user AND hash = :old-hash",
        ])
        let old = try await fixture.hash("correct horse")
        try file.execute("INSERT INTO t VALUES ('ann', ?, 1)", [old])
        func secrets(_ texts: String...) -> RecordingConversation.Reply {
            let secrets = texts.map { Answer.secret(Secret(utf8: $0)) }
            return .answers(secrets.count == 1 ? secrets : [.none] + secrets)
        }
        // HTTP Basic gives the same password again.
        #expect(try await fixture.outcome("ann", "correct horse") == "credential-expired")
        // A wrong password leads to no question.
        let wrong = RecordingConversation([secrets("wrong")])
        #expect(try await fixture.login("ann", "", asking: wrong).refusal?.failure == .wrongCredentials)
        #expect(wrong.questions.count == 1)
        // Different, short and old passwords are refused.
        let bad = RecordingConversation([
            secrets("correct horse"), secrets("battery staple", "battery stable"), secrets("short", "short"),
            secrets("battery staple", "correct horse"),
        ])
        #expect(try await fixture.login("ann", "", asking: bad).refusal?.failure == .credentialExpired)
        #expect(bad.questions.count == 4)
        #expect(try file.value("SELECT hash FROM t") == old)
        // What another module refuses changes nothing, and shows nothing.
        let refused = RecordingConversation([secrets("correct horse"), secrets("battery staple", "battery staple")])
        let denying = ScriptedModule(.refuse(.wrongCredentials))
        #expect(try await fixture.login("ann", "", asking: refused, then: denying).identity == nil)
        #expect(refused.questions.count == 1)
        #expect(try file.value("SELECT hash FROM t") == old)
        // The change.
        let good = RecordingConversation([secrets("correct horse"), secrets("battery staple", "battery staple")])
        let report = try await fixture.login("ann", "", asking: good)
        #expect(report.identity != nil, "\(report)")
        #expect(try file.value("SELECT hash FROM t") != old)
        #expect(try file.value("SELECT must FROM t") == "0")
        #expect(try await fixture.outcome("ann", "battery staple") == "accepted")
        #expect(try await fixture.outcome("ann", "correct horse") == "wrong-credentials")
    }

    @Test func `a user who is disabled while the new password is asked for gets none`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT, enabled INT)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query":
                "SELECT name AS username, hash AS password, 1 AS must_change, enabled FROM t WHERE name = :user",
            "update-password-query": "UPDATE t SET hash = :password-hash WHERE name = :user AND hash = :old-hash",
        ])
        let old = try await fixture.hash("correct horse")
        try file.execute("INSERT INTO t VALUES ('ann', ?, 1)", [old])
        let right = PreparedConversation(password: Secret(utf8: "correct horse"))
        let held = PreparedConversation(password: Secret(utf8: "battery staple"))
        let conversation = RecordingConversation([.prepared(right), .held(held)])
        let login = Task { try await fixture.login("ann", "", asking: conversation) }
        await conversation.untilCalled(2)
        try file.execute("UPDATE t SET enabled = 0")
        conversation.release()
        #expect(try await login.value.refusal?.failure == .disabled)
        #expect(try file.value("SELECT hash FROM t") == old)
    }

    @Test func `a change that cannot be stored refuses the login`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password, 1 AS must_change FROM t WHERE name = :user",
            "update-password-query":
                "UPDATE t SET hash = :password-hash WHERE name = :user AND hash = :old-hash AND hash = 'other'",
        ])
        try file.execute("INSERT INTO t VALUES ('ann', ?)", [try await fixture.hash("correct horse")])
        let new = Answer.secret(Secret(utf8: "battery staple"))
        let conversation = RecordingConversation([
            .answers([.secret(Secret(utf8: "correct horse"))]), .answers([.none, new, new]),
        ])
        let report = try await fixture.login("ann", "", asking: conversation)
        #expect(report.identity == nil)
        #expect(fixture.messages.contains { $0.contains("the new password of ann was not stored") })
    }

    @Test func `all refusals compute the same number of hashes`() async throws {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT, enabled INT)")
        let fixture = try SQLFixture([
            "database": file.location,
            "password-query": "SELECT name AS username, hash AS password, enabled FROM t WHERE name = :user",
        ])
        try file.execute("INSERT INTO t VALUES ('ann', ?, 1)", [try await fixture.hash("correct horse")])
        try file.execute("INSERT INTO t VALUES ('off', ?, 0)", [try await fixture.hash("correct horse")])
        try file.execute("INSERT INTO t VALUES ('old', '{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==', 1)")
        try file.execute("INSERT INTO t VALUES ('bad', 'what is this', 1), ('null', NULL, 1)")
        // The realm learns the costs of the users that it sees.
        for name in ["ann", "old"] { _ = try await fixture.outcome(name, "x") }
        for name in ["ann", "off", "old", "bad", "null", "unknown"] {
            for password in ["correct horse", "wrong", ""] {
                let report = try await fixture.login(name, password)
                let plan = report.notes.map(\.text).first { $0.contains("argon2id") } ?? ""
                #expect(plan.hasPrefix("argon2id m=64,t=1,p=1, sha1:"), "\(name): \(plan)")
            }
        }
    }

    /// A realm with a user of each of these stored passwords: user0, user1 and so on.
    private func realm(_ stored: [String], _ more: [String: String] = [:]) throws -> (SQLFixture, SQLiteFile) {
        let file = try SQLiteFile("CREATE TABLE t (name TEXT, hash TEXT)")
        for (number, hash) in stored.enumerated() {
            try file.execute("INSERT INTO t VALUES (?, ?)", ["user\(number)", hash])
        }
        let query = "SELECT name AS username, hash AS password FROM t WHERE name = :user"
        let properties = ["database": file.location, "password-query": query].merging(more) { $1 }
        return (try SQLFixture(properties), file)
    }

    @Test func `a hash that would take seconds is not learned, and the log names its user`() async throws {
        let dear = "$2b$17$" + String(repeating: ".", count: 53)
        let (fixture, file) = try realm([dear])
        try file.execute("INSERT INTO t VALUES ('ann', ?)", [try await fixture.hash("correct horse")])
        let begin = ContinuousClock.now
        #expect(try await fixture.outcome("user0", "x") == "wrong-credentials")
        #expect(try await fixture.outcome("ann", "correct horse") == "accepted")
        #expect(try await fixture.outcome("unknown", "x") == "unknown-user")
        #expect(ContinuousClock.now - begin < .seconds(5), "a check of the hash takes longer")
        let line =
            "the password of user0 cannot be read: a check of bcrypt cost=17 takes about 7.9 s, more than longest-check"
        #expect(fixture.messages.contains { $0.contains(line) }, "\(fixture.messages)")
    }

    @Test func `a ninth cost is learned if it is dearer than others, and the log says once that one was left out`()
        async throws
    {
        let salt = String(repeating: "A", count: 43)
        let hashes = (1...12).map { "$pbkdf2-sha256$\(1000 * $0)$c2FsdA$\(salt)" }
        let (fixture, file) = try realm(hashes)
        for number in hashes.indices { _ = try await fixture.outcome("user\(number)", "x") }
        for name in ["user0", "user11", "unknown"] {
            let report = try await fixture.login(name, "x")
            let plan = report.notes.map(\.text).first { $0.contains("pbkdf2") } ?? ""
            #expect(plan.split(separator: "pbkdf2-sha256").count == 8, "\(plan)")
            #expect(plan.contains("i=12000") && plan.contains("i=1000,") == (name == "user0"), "\(plan)")
        }
        #expect(fixture.messages.count { $0.contains("of the 8 dearest") } == 1, "\(fixture.messages)")
        withExtendedLifetime(file) {}
    }

    @Test func `a decoy that takes too long is named when the realm is created`() throws {
        let (fixture, _) = try realm([], ["decoy": "bcrypt cost=17"])
        #expect(fixture.messages.contains { $0.contains("decoy: a check of bcrypt cost=17") })
    }
}

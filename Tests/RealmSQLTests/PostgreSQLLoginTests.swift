// SPDX-License-Identifier: Apache-2.0

import DatabaseTesting
import Foundation
import RealmKit
import RealmTesting
import ServerConnections
import TLSTesting
import Testing

@testable import RealmSQL

/// Logins with users in a real server of PostgreSQL.
@Suite(.enabled(if: PostgreSQLSetup.problem == nil, "\(PostgreSQLSetup.problem ?? "")"))
struct PostgreSQLLoginTests {
    private func error(_ changes: [String: String?]) throws -> String {
        var properties = try PostgreSQLSetup.properties(PostgreSQLSetup.shared.get())
        for (name, value) in changes { properties[name] = value }
        do {
            let fixture = try SQLFixture(properties)
            return fixture.messages.isEmpty ? "none" : fixture.messages.joined(separator: "\n")
        } catch {
            return "\(error)"
        }
    }

    @Test func `a user signs in over TLS, and the states are told apart`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        let fixture = try SQLFixture(try PostgreSQLSetup.properties(server))
        let hash = try await fixture.hash("correct horse")
        let table: [(String, String, String, String)] = [
            ("state-ok", "", "", "accepted"), ("state-off", ", enabled", ", false", "disabled"),
            ("state-locked", ", locked", ", true", "locked"),
            ("state-past", ", expires", ", '2020-01-01 00:00+05'", "account-expired"),
            ("state-later", ", expires", ", 'infinity'", "accepted"),
            ("state-new", ", must_change", ", true", "credential-expired"),
        ]
        for (name, columns, values, _) in table {
            try PostgreSQLSetup.add(
                name,
                hash: hash,
                groups: ["staff", "crew"],
                columns: columns,
                values: values,
                to: server
            )
        }
        for (name, _, _, outcome) in table {
            #expect(try await fixture.outcome(name, "correct horse") == outcome, "\(name)")
            #expect(try await fixture.outcome(name, "wrong") == "wrong-credentials")
        }
        let report = try await fixture.login("state-ok", "correct horse")
        #expect(report.identity?.groups.sorted() == ["crew", "staff"])
        let notes = report.notes.map(\.text)
        #expect(notes.contains("localhost:\(server.port)"))
        #expect(notes.contains { $0.hasPrefix("password-query: ") && $0.hasSuffix("rows: 1") })
        #expect(try await fixture.outcome("nobody", "correct horse") == "unknown-user")
        #expect(fixture.messages.isEmpty, "\(fixture.messages)")
        let connections = try server.sql(
            "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'gatehouse' AND NOT ssl"
        )
        #expect(connections == "0")
    }

    @Test func `tables of GlassFish with CHAR columns and a column of digests`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
        try server.sql(
            """
            CREATE SCHEMA gf; GRANT USAGE ON SCHEMA gf TO gatehouse;
            CREATE TABLE gf."Users" (userid char(20), "pass$word" char(80));
            CREATE TABLE gf.user_groups (userid varchar(20), groupid char(20));
            GRANT SELECT ON ALL TABLES IN SCHEMA gf TO gatehouse;
            INSERT INTO gf."Users" VALUES ('ann', '\(digest)'), ('bob', ''), ('cid', '\(digest.dropLast(2))');
            INSERT INTO gf.user_groups VALUES ('ann', 'staff'), ('ann', 'crew');
            """
        )
        var properties = try PostgreSQLSetup.properties(server)
        (properties["password-query"], properties["groups-query"]) = (nil, nil)
        properties.merge([
            "user-table": "gf.Users", "user-name-column": "userid", "password-column": "pass$word",
            "group-table": "gf.user_groups", "group-name-column": "groupid", "digest-algorithm": "SHA-256",
        ]) { $1 }
        let fixture = try SQLFixture(properties)
        #expect(try await fixture.login("ann", "secret").identity?.groups.sorted() == ["crew", "staff"])
        for name in ["bob", "cid"] {
            for password in ["", "secret", " "] {
                #expect(try await fixture.outcome(name, password) == "wrong-credentials")
            }
        }
        #expect(try await fixture.realm.users().map(\.name.text) == ["ann", "bob", "cid"])
        // PostgreSQL would cut a name that is too long for a cast.
        properties["user-table"] = nil
        for name in ["user-name-column", "password-column", "group-table", "group-name-column"] {
            properties[name] = nil
        }
        properties["password-query"] = """
            SELECT userid AS username, "pass$word" AS password FROM gf."Users" WHERE userid = :user::varchar(3)
            """
        let cutting = try SQLFixture(properties)
        #expect(try await cutting.outcome("ann", "secret") == "accepted")
        #expect(try await cutting.outcome("annabel", "secret") == "unknown-user")
    }

    /// Rows of many kinds, because libpq reads small and large messages in different ways.
    @Test(arguments: [
        ("groups-query", "SELECT name FROM users, generate_series(1, 2000000) WHERE name = :user", false),
        ("attributes-query", "SELECT repeat(name, 4000000) AS text FROM users WHERE name = :user", false),
        (
            "attributes-query",
            "SELECT repeat('x', 300) AS text FROM users, generate_series(1, 30000) WHERE name = :user", true
        ),
    ])
    func `an answer of more than 16 MiB makes the login unavailable, after the password`(
        _ property: String,
        _ query: String,
        _ isAccepted: Bool
    ) async throws {
        let server = try PostgreSQLSetup.shared.get()
        var properties = try PostgreSQLSetup.properties(server)
        properties["query-timeout"] = "30s"
        properties["timeout"] = "60s"
        properties[property] = query
        let fixture = try SQLFixture(properties)
        let name = "large-\(property)-\(isAccepted)"
        try PostgreSQLSetup.add(name, hash: try await fixture.hash("correct horse"), to: server)
        for _ in 0..<3 {
            #expect(try await fixture.outcome(name, "correct horse") == (isAccepted ? "accepted" : "unavailable"))
        }
        let isLogged = fixture.messages.contains {
            $0.contains("\(property): the answer has more than 16 MiB; user \(name)")
        }
        #expect(isLogged != isAccepted, "\(fixture.messages)")
        #expect(try await fixture.outcome(name, "wrong") == "wrong-credentials")
        #expect(try await fixture.outcome("nobody", "correct horse") == "unknown-user")
    }

    /// The ways in which the queries are sent.
    @Test(arguments: ["together", "after the name", "state after the name", "one by one", "by a Unix socket"])
    func `an answer that is too large does not show before the password that the user exists`(
        _ way: String
    ) async throws {
        let server = try PostgreSQLSetup.shared.get()
        var properties = try PostgreSQLSetup.properties(server)
        properties["query-timeout"] = "30s"
        properties["timeout"] = "60s"
        properties["groups-query"] = "SELECT repeat(name, 4000000) FROM users WHERE name = :user"
        switch way {
        case "after the name": properties["case-sensitive"] = "false"
        case "state after the name":
            properties["case-sensitive"] = "false"
            properties["password-query"] = "SELECT name AS username, password FROM users WHERE name = :user"
            properties["groups-query"] = "SELECT grp FROM groups WHERE name = :user"
            properties["state-query"] = "SELECT repeat(name, 4000000) AS locked FROM users WHERE name = :user"
        case "one by one":
            // It fails, because the name is no number.
            properties["state-query"] = "SELECT true AS enabled WHERE :user::int = 1"
        case "by a Unix socket":
            properties["database"] = "host=\(server.folder.path) user=gatehouse port=\(server.port) dbname=app"
        default: break
        }
        let fixture = try SQLFixture(properties)
        let name = "hidden-\(way.utf8.count)"
        try PostgreSQLSetup.add(name, hash: try await fixture.hash("correct horse"), to: server)
        for _ in 0..<2 {
            #expect(try await fixture.outcome(name, "wrong") == "wrong-credentials")
            #expect(try await fixture.outcome("nobody", "wrong") == "unknown-user")
            #expect(try await fixture.outcome(name, "correct horse") == "unavailable")
        }
    }

    @Test func `a password query that returns more than 16 MiB makes logins unavailable`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        var properties = try PostgreSQLSetup.properties(server)
        properties["query-timeout"] = "30s"
        properties["timeout"] = "60s"
        properties["password-query"] =
            "SELECT name AS username, password FROM users, generate_series(1, 2000000) WHERE name = :user"
        let fixture = try SQLFixture(properties)
        try PostgreSQLSetup.add("large-password", hash: try await fixture.hash("correct horse"), to: server)
        #expect(try await fixture.outcome("large-password", "correct horse") == "unavailable")
        #expect(
            fixture.messages.contains { $0.contains("password-query: the answer has more than 16 MiB") },
            "\(fixture.messages)"
        )
        #expect(try await fixture.outcome("nobody", "correct horse") == "unknown-user")
    }

    /// With two connections one user has one, and a client half of two.
    @Test func `the logins of one user wait for each other, and those of another user do not`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        var properties = try PostgreSQLSetup.properties(server)
        properties["connections"] = "2"
        properties["groups-query"] =
            "SELECT pg_sleep(CASE :user::text WHEN 'waits' THEN 2 ELSE 0 END)::text FROM users WHERE name = :user"
        let fixture = try SQLFixture(properties)
        let hash = try await fixture.hash("correct horse")
        for name in ["waits", "quick"] { try PostgreSQLSetup.add(name, hash: hash, to: server) }
        // The statements are prepared and the connections are open.
        #expect(try await fixture.outcome("quick", "correct horse") == "accepted")
        let clock = ContinuousClock.now
        let (first, second) = (
            Task { try await fixture.outcome("waits", "correct horse") },
            Task { try await fixture.outcome("waits", "correct horse") }
        )
        try await Task.sleep(for: .milliseconds(200))
        #expect(try await fixture.outcome("quick", "correct horse") == "accepted")
        #expect(ContinuousClock.now - clock < .milliseconds(1900))
        #expect(try await [first.value, second.value] == ["accepted", "accepted"])
        #expect(ContinuousClock.now - clock > .milliseconds(3900))
    }

    /// The queries of a login are sent together, so the answers to those after a failed one must not be left over.
    @Test func `after a query that fails, the next login gets the answers to its own queries`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        let fixture = try SQLFixture()
        let hash = PostgreSQLSetup.literal(try await fixture.hash("correct horse"))
        try server.sql(
            """
            CREATE TABLE people (id int, password text); GRANT SELECT ON people TO gatehouse;
            CREATE TABLE crews (name text, crew text, size text); GRANT SELECT ON crews TO gatehouse;
            INSERT INTO people VALUES (1, \(hash)), (2, \(hash)), (3, \(hash));
            INSERT INTO crews VALUES ('1', 'first', '10'), ('2', 'second', '20'), ('3', 'third', 'many');
            """
        )
        var properties = try PostgreSQLSetup.properties(server)
        properties.merge([
            "password-query": "SELECT id AS username, password FROM people WHERE id = :user",
            "groups-query": "SELECT crew FROM crews WHERE name = :user",
            "attributes-query": "SELECT size::int AS size FROM crews WHERE name = :user", "connections": "1",
        ]) { $1 }
        try fixture.use(properties)
        for _ in 0..<20 {
            // The first query fails, and the server ignores the others.
            #expect(try await fixture.outcome("ann", "correct horse") == "unknown-user")
            let first = try await fixture.login("1", "correct horse")
            #expect(first.identity?.groups == ["first"])
            #expect(first.identity?.subject.attributes.map(\.values) == [["10"]])
            // The last query fails.
            #expect(try await fixture.outcome("3", "correct horse") == "unavailable")
            #expect(try await fixture.login("2", "correct horse").identity?.groups == ["second"])
        }
        let connections = try server.sql(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%crews%' AND usename = 'gatehouse'"
        )
        #expect(connections == "1")
    }

    @Test func `a server that ends the connection between two answers is named with its reason`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        var properties = try PostgreSQLSetup.properties(server)
        let fixture = try SQLFixture()
        properties["groups-query"] = "SELECT pg_terminate_backend(pg_backend_pid())::text WHERE :user = 'ann'"
        try fixture.use(properties)
        let report = try await fixture.login("ann", "correct horse")
        #expect(report.refusal?.failure == .unavailable)
        let notes = report.notes.map(\.text)
        #expect(notes.contains { $0.contains("terminating connection due to administrator command") }, "\(notes)")
    }

    @Test func `a server without TLS is named with the parameter that allows it`() {
        let text =
            "connection to server at \"127.0.0.1\", port 5432 failed: server does not support SSL, but SSL was required\n"
        #expect(PostgreSQLFault.connection(text).log.contains("sslmode=disable"))
        #expect(!PostgreSQLFault.connection("Connection refused\n").log.contains("sslmode=disable"))
    }

    @Test func `blanks at the end of a text count, and those of a CHAR column do not`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        let fixture = try SQLFixture()
        let hash = try await fixture.hash("correct horse")
        try PostgreSQLSetup.add("blanks", hash: hash, groups: ["admin ", "crew"], to: server)
        var properties = try PostgreSQLSetup.properties(server)
        try fixture.use(properties)
        #expect(try await fixture.login("blanks", "correct horse").identity?.groups.sorted() == ["admin ", "crew"])
        properties["groups-query"] = "SELECT grp::char(20) FROM groups WHERE name = :user"
        try fixture.use(properties)
        #expect(try await fixture.login("blanks", "correct horse").identity?.groups.sorted() == ["admin", "crew"])
    }

    @Test func `each query of a login has the whole time limit of a query`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        var properties = try PostgreSQLSetup.properties(server)
        let fixture = try SQLFixture()
        try PostgreSQLSetup.add("slow", hash: try await fixture.hash("correct horse"), groups: ["staff"], to: server)
        properties.merge([
            "password-query":
                "SELECT name AS username, password FROM users, pg_sleep(0.6) WHERE name = :user",
            "groups-query": "SELECT grp FROM groups, pg_sleep(0.6) WHERE name = :user", "query-timeout": "1s",
        ]) { $1 }
        try fixture.use(properties)
        #expect(try await fixture.login("slow", "correct horse").identity?.groups == ["staff"])
    }

    @Test func `a name that a column cannot have is unknown`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        try server.sql(
            """
            CREATE TABLE numbers (id int, password text); GRANT SELECT ON numbers TO gatehouse;
            INSERT INTO numbers VALUES (7, '{CLEAR}x');
            """
        )
        var properties = try PostgreSQLSetup.properties(server)
        properties["groups-query"] = nil
        properties["password-query"] = "SELECT id AS username, password FROM numbers WHERE id = :user"
        let fixture = try SQLFixture(properties)
        for name in ["ann", "7x", "99999999999999999999", "1.5"] {
            #expect(try await fixture.outcome(name, "x") == "unknown-user", "\(name)")
        }
        // The number is the same, and the spelling is not.
        #expect(try await fixture.outcome("+7", "x") == "unknown-user")
        #expect(try await fixture.outcome("7", "x") == "wrong-credentials")
    }

    @Test(
        arguments: [
            (["password-query": "SELECT name AS username, password FROM nil WHERE name = :user"], "a table is missing"),
            (
                ["password-query": "SELECT name AS username, pass AS password FROM users WHERE name = :user"],
                "a column is missing"
            ),
            (["groups-query": "SELECT rolname FROM pg_authid WHERE rolname = :user"], "has no right"),
            (["groups-query": "SELECT grp FROM groups WHERE name = :user AND"], "a syntax error"),
            (["groups-query": "SELECT grp, name FROM groups WHERE name = :user"], "returns 2 columns"),
            (
                [
                    "update-password-query":
                        "UPDATE groups SET grp = :password-hash WHERE name = :user AND grp = :old-hash"
                ],
                "has no right"
            ),
            (["password": "wrong"], "rejects the user or the password"),
            (["database": "postgresql://gatehouse@localhost/app?password=x"], "contains a password"),
            (["database": "postgresql://gatehouse:tomato@localhost/app"], "contains a password"),
            (["database": "postgresql://gatehouse@db.example.org/app?sslmode=require"], "sets sslmode=require"),
            (["database": "postgresql://gatehouse@db.example.org/app?sslmode=disable"], "is not this machine"),
            (["database": "postgresql://gatehouse@localhost/app?service=x"], "sets service"),
            (["database": "postgresql://gatehouse@localhost/app?target_session_attrs=primary"], "primary one"),
            (["database": "host=localhost,other port=1,2,3 user=gatehouse"], "different numbers"),
            (["database": "postgresql://localhost/app"], "db-user: must be set"), (["ca-file": "/dev/null"], "ca-file"),
            (["client-key": "/dev/null"], "client-certificate: must be set"),
            (["database": "postgresql://[bad"], "is neither"),
        ] as [([String: String], String)]
    )
    func `a mistake is an error at load, without secrets`(_ changes: [String: String], _ expected: String) throws {
        let error = try error(changes)
        #expect(error.contains(expected), "\(error)")
        #expect(!error.contains("tomato"), "\(error)")
    }

    @Test func `the certificate of the server must be for its name and of a trusted authority`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        let name = try error(["database": "postgresql://gatehouse@127.0.0.2:\(server.port)/app"])
        // Nothing listens there, so the name is checked with an address of the right server.
        #expect(name.contains("the database does not answer"), "\(name)")
        let other = try error([
            "database": "host=db.test hostaddr=127.0.0.1 port=\(server.port) dbname=app user=gatehouse"
        ])
        #expect(other.contains("does not match host name"), "\(other)")
        let strange = try error(["ca-file": try PostgreSQLSetup.pki.file("strange.pem").path])
        #expect(strange.contains("certificate verify failed"), "\(strange)")
        let system = try error(["ca-file": nil])
        #expect(system.contains("certificate verify failed") || system.contains("does not exist"), "\(system)")
        let plain = try error([
            "database": "postgresql://tls_user@localhost:\(server.port)/app?sslmode=disable", "password": "tomato",
        ])
        #expect(plain.contains("rejects the user"), "\(plain)")
        #expect(
            try error([
                "database": "postgresql://gatehouse@127.0.0.1:\(server.port)/app?sslmode=disable", "ca-file": nil,
            ]) == "none"
        )
        #expect(
            try error([
                "database": "host=\(server.folder.path) user=gatehouse port=\(server.port) dbname=app user=gatehouse",
                "ca-file": nil,
            ]) == "none"
        )
    }

    @Test func `a client certificate can take the place of the password`() throws {
        let pki = try PostgreSQLSetup.pki
        let server = try PostgreSQLSetup.shared.get()
        let with: [String: String?] = [
            "database": "postgresql://cert_user@localhost:\(server.port)/app", "password": nil,
            "client-certificate": pki.file("client-chain.pem").path, "client-key": pki.file("client.key").path,
        ]
        // The name in the certificate is not the user's: the server has read the certificate, and rejects it.
        let error = try error(with)
        #expect(error.contains("rejects the user") || error == "none", "\(error)")
        var without = with
        without["client-certificate"] = .some(nil)
        without["client-key"] = .some(nil)
        #expect(try self.error(without).contains("rejects the user"))
    }

    @Test func `a weak hash is replaced, and an expired password changed`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        var properties = try PostgreSQLSetup.properties(server)
        properties["digest-algorithm"] = "SHA-1"
        properties["update-password-query"] = PostgreSQLSetup.update
        let fixture = try SQLFixture(properties)
        let digest = "e5e9fa1ba31ecd1ae84f75caaa474f3a663f05f4"
        try PostgreSQLSetup.add("weak", hash: digest, to: server)
        #expect(try await fixture.outcome("weak", "secret") == "accepted")
        #expect(try server.sql("SELECT password FROM users WHERE name = 'weak'").hasPrefix("$argon2id$"))
        #expect(try await fixture.outcome("weak", "secret") == "accepted")

        try PostgreSQLSetup.add("expired", hash: digest, columns: ", must_change", values: ", true", to: server)
        let new = Answer.secret(Secret(utf8: "battery staple"))
        let conversation = RecordingConversation([
            .answers([.secret(Secret(utf8: "secret"))]), .answers([.none, new, new]),
        ])
        #expect(try await fixture.login("expired", "", asking: conversation).identity != nil)
        #expect(try await fixture.outcome("expired", "secret") == "wrong-credentials")
        #expect(try await fixture.outcome("expired", "battery staple") == "accepted")
        #expect(fixture.messages.isEmpty, "\(fixture.messages)")
    }

    @Test func `a query that takes too long ends at the server, too`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        var properties = try PostgreSQLSetup.properties(server)
        properties["groups-query"] = "SELECT 'a' FROM pg_sleep(CASE WHEN :user = 'slow' THEN 60 ELSE 0 END)"
        properties["query-timeout"] = "300ms"
        let fixture = try SQLFixture(properties)
        #expect(try await fixture.outcome("slow", "x") == "unavailable")
        try await Task.sleep(for: .milliseconds(600))
        #expect(
            try server.sql(
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(CASE%' AND state = 'active' AND pid <> pg_backend_pid()"
            ) == "0"
        )
    }

    @Test func `a database with another encoding does not know names that it cannot have`() async throws {
        let server = try PostgreSQLSetup.server(encoding: "LATIN1")
        var properties = try PostgreSQLSetup.properties(server)
        properties["password"] = "tomato"
        let fixture = try SQLFixture(properties)
        try server.sql(
            "SET client_encoding = 'UTF8'; INSERT INTO users VALUES ('j\u{FC}rgen', \(PostgreSQLSetup.literal(try await fixture.hash("correct horse"))))"
        )
        #expect(try await fixture.outcome("j\u{FC}rgen", "correct horse") == "accepted")
        #expect(try await fixture.outcome("\u{65E5}\u{672C}", "correct horse") == "unknown-user")
        server.stop()
    }

    @Test func `a value that cannot be converted is no reason to leave groups out`() async throws {
        let server = try PostgreSQLSetup.shared.get()
        var properties = try PostgreSQLSetup.properties(server)
        properties["groups-query"] = "SELECT grp FROM groups WHERE name = :user AND grp::int > 0"
        properties["check-at-load"] = "false"
        let fixture = try SQLFixture(properties)
        try PostgreSQLSetup.add(
            "convert-ann",
            hash: try await fixture.hash("correct horse"),
            groups: ["1", "n/a"],
            to: server
        )
        #expect(try await fixture.outcome("convert-ann", "correct horse") == "unavailable")
        #expect(try await fixture.outcome("convert-ann", "wrong") == "wrong-credentials")
        #expect(fixture.messages.contains { $0.contains("groups-query: a value in the database cannot be converted") })
        #expect(try await fixture.outcome("convert-zoe", "correct horse") == "unknown-user")
    }

    #if PostgreSQL
    @Test func `statements with different texts have different names, also if they are as long`() throws {
        func name(_ table: String) throws -> String {
            try PostgreSQLConnection.statementName(
                SQLQuery(name: .password, text: "SELECT name FROM \(table) WHERE name = $1", parameters: [.user])
            )
        }
        #expect(try name("users1") != name("users2"))
        #expect(try name("users1") == name("users1"))
        // The server cuts longer names.
        #expect(try name("users1").utf8.count <= 63)
    }
    #endif
}

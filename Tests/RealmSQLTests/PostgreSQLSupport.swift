// SPDX-License-Identifier: Apache-2.0

import DatabaseTesting
import Foundation
import RealmKit
import RealmSQL
import Synchronization
import TLSTesting

/// Servers of PostgreSQL with users, for the tests of this target.
enum PostgreSQLSetup {
    /// The reason why the tests cannot run; nil if there is none.
    static let problem: String? =
        PostgreSQLServer.problem ?? (TestPKI.isPossible ? nil : "openssl is not installed")

    /// The password of the user of the database.
    static let password = "tomato pepper \u{E4}"

    static var pki: TestPKI {
        get throws { try TestPKI.shared.get() }
    }

    /// One server for all tests that do not stop it.
    static let shared = Result { try server() }

    /// Starts a server with a database `app`, its user, and empty tables.
    static func server(encoding: String = "UTF8") throws -> PostgreSQLServer {
        let server = try PostgreSQLServer.primary(
            certificate: try pki.file("server-chain.pem").path,
            key: try pki.file("server.key").path,
            authority: try pki.file("root.pem").path,
            encoding: encoding
        )
        try server.sql("CREATE DATABASE app", database: "postgres")
        // A server with another encoding cannot store every password, so this one is ASCII there.
        try server.sql(
            """
            CREATE USER gatehouse PASSWORD '\(encoding == "UTF8" ? password : "tomato")';
            CREATE USER tls_user PASSWORD 'tomato';
            CREATE USER cert_user;
            CREATE TABLE users (name text PRIMARY KEY, password text, enabled boolean NOT NULL DEFAULT true,
                locked boolean NOT NULL DEFAULT false, expires timestamptz, must_change boolean NOT NULL DEFAULT false);
            CREATE TABLE groups (name text, grp text);
            GRANT SELECT, UPDATE ON users TO gatehouse;
            GRANT SELECT ON groups, users TO gatehouse, tls_user, cert_user;
            """
        )
        return server
    }

    /// The properties of a realm on a server.
    static func properties(_ servers: PostgreSQLServer...) throws -> [String: String] {
        let hosts = servers.map { "localhost:\($0.port)" }.joined(separator: ",")
        return [
            "database": "postgresql://gatehouse@\(hosts)/app", "password": password,
            "ca-file": try pki.file("root.pem").path, "password-query": query,
            "groups-query": "SELECT grp FROM groups WHERE name = :user", "check-interval": "100ms",
        ]
    }

    static let query =
        "SELECT name AS username, password, enabled, locked, expires, must_change FROM users WHERE name = :user"

    static let update =
        "UPDATE users SET password = :password-hash, must_change = false WHERE name = :user AND password = :old-hash"

    /// Returns a text as a literal of SQL.
    static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    /// Adds a user to a server.
    static func add(
        _ name: String,
        hash: String,
        groups: [String] = [],
        columns: String = "",
        values: String = "",
        to server: PostgreSQLServer
    ) throws {
        try server.sql(
            "INSERT INTO users (name, password\(columns)) VALUES (\(literal(name)), \(literal(hash))\(values));"
                + groups.map { "INSERT INTO groups VALUES (\(literal(name)), \(literal($0)));" }.joined()
        )
    }
}

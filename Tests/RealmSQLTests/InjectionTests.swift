// SPDX-License-Identifier: Apache-2.0

import DatabaseTesting
import Foundation
import RealmKit
import SeededRandom
import ServerConnections
import Testing
import Workers

@testable import RealmSQL

/// Hostile names: the database receives exactly their bytes, as one value.
struct InjectionTests {
    /// The number of names; a million in the long run of the project.
    static let count = ProcessInfo.processInfo.environment["GATEHOUSE_SQL_STRINGS"].flatMap { Int($0) } ?? 3_000

    private static let pieces = [
        "'", "''", "\"", "\\", "\\'", ";", "--", "/*", "*/", "$$", "$1", "?", "?1", ":user", "@x", "%", "_", "\u{0}",
        "\n", "\r", "\t", "\u{1A}", "\u{8}", " OR 1=1", "' OR '1'='1", "'; DROP TABLE users; --", "\" OR \"\"=\"",
        "UNION SELECT", "0x27", "\u{2019}", "\u{2BC}", "\u{FF07}", "\u{BF}'", "\u{E9}", "e\u{301}", "\u{1F511}",
        "\u{FEFF}",
        "\u{202E}", "a", "Z", "0", " ", "E'", "U&'", "x'", "(", ")", ",", "=", "\\x00", "\\0", "%27", "&#39;", "{", "}",
        "||",
        "\u{10FFFF}", "\u{80}", "NULL", "::text", "\u{7F}",
    ]

    private static func texts(seed: UInt64) -> some Sequence<String> {
        var random = Random(seed: seed)
        return (0..<count).lazy.map { number in
            var text = ""
            for _ in 0..<(1 + random.below(8)) {
                if random.below(4) == 0 {
                    let scalar = Unicode.Scalar(UInt32(random.below(0x3000)))
                    text.unicodeScalars.append(scalar ?? "x")
                } else {
                    text += random.pick(pieces)
                }
            }
            // The longest names that the program knows.
            if number % 1000 == 0 { text = String(String(repeating: text, count: 1024).prefix(1024)) }
            return text
        }
    }

    private static func query(_ text: String, _ dialect: SQLDialect) throws -> SQLQuery {
        try QueryScanner.translate(text, name: .password, dialect: dialect, parameters: [.user])
    }

    private static func check(_ connection: any DatabaseConnection, _ query: SQLQuery) throws -> (sent: Int, nul: Int) {
        let call = ServerCall(until: MonotonicTime.now + 3_600_000_000_000)
        var (sent, nul) = (0, 0)
        for text in texts(seed: 4711) {
            guard let values = try? SQLValues(user: text) else {
                #expect(text.utf8.contains(0))
                nul += 1
                continue
            }
            let rows = try connection.run(query, values: values, call: call)
            // The database itself writes the bytes that it has received.
            let digits = text.utf8.map { byte in
                let digits = String(byte, radix: 16)
                return digits.utf8.count == 1 ? "0" + digits : digits
            }.joined()
            guard rows.rows == [[digits]] else {
                Issue.record("\(text.debugDescription) was received as \(rows.rows)")
                return (sent, nul)
            }
            sent += 1
        }
        return (sent, nul)
    }

    @Test func `SQLite receives the bytes of hostile names`() throws {
        let file = try SQLiteFile("CREATE TABLE users (name TEXT)", "INSERT INTO users VALUES ('ann')")
        let connection = try SQLiteConnection(file.path, isReadOnly: true, queryTimeout: .seconds(10))
        defer { connection.close() }
        let query = try Self.query("SELECT lower(hex(CAST(:user AS BLOB)))", .sqlite)
        let (sent, nul) = try Self.check(connection, query)
        #expect(sent + nul == Self.count && sent > Self.count / 2)
        #expect(try file.value("SELECT count(*) FROM users") == "1")
    }

    @Test(.enabled(if: PostgreSQLSetup.problem == nil, "\(PostgreSQLSetup.problem ?? "")"))
    func `PostgreSQL receives the bytes of hostile names`() throws {
        let server = try PostgreSQLSetup.shared.get()
        let call = ServerCall(until: MonotonicTime.now + 60_000_000_000)
        let settings = try SQLSettings(
            RealmProperties(
                try SQLFixture.values(try PostgreSQLSetup.properties(server)),
                schema: SQLRealm.properties,
                realmName: "people"
            )
        )
        let properties = try RealmProperties(
            try SQLFixture.values(try PostgreSQLSetup.properties(server)),
            schema: SQLRealm.properties,
            realmName: "people"
        )
        let servers = try settings.location.servers(properties, limits: settings.limits)
        let connection = try servers.readers.connect(0, call)
        defer { connection.close() }
        let query = try Self.query("SELECT encode(convert_to(:user::text, 'UTF8'), 'hex')", .postgreSQL)
        let (sent, nul) = try Self.check(connection.database, query)
        #expect(sent + nul == Self.count && sent > Self.count / 2)
    }
}

// SPDX-License-Identifier: Apache-2.0

import GRDB
import RealmKit
import SeededRandom
import Testing

@testable import RealmSQL

/// The parameters of queries.
struct QueryScannerTests {
    private static func translate(
        _ text: String,
        _ dialect: SQLDialect = .postgreSQL
    ) throws(BadRealm) -> SQLQuery {
        try QueryScanner.translate(text, name: .password, dialect: dialect, parameters: SQLParameter.allCases)
    }

    @Test(arguments: [
        ("SELECT :user", "SELECT  $1 "), ("SELECT a FROM t WHERE b=:user;", "SELECT a FROM t WHERE b= $1 "),
        ("SELECT ':user', :user", "SELECT ':user',  $1 "), ("SELECT 'it''s :user'", "SELECT 'it''s :user'"),
        (#"SELECT E'it\'s :user', 'a\', :user"#, #"SELECT E'it\'s :user', 'a\',  $1 "#),
        (#"SELECT E'a''b\'c :user', :user"#, #"SELECT E'a''b\'c :user',  $1 "#),
        ("SELECT E'', E'a''', :user", "SELECT E'', E'a''',  $1 "),
        (#"SELECT ":user" FROM t"#, #"SELECT ":user" FROM t"#),
        ("SELECT a::text, :user::text", "SELECT a::text,  $1 ::text"),
        ("SELECT $$:user$$ || $a$ $$ :user $a$ || :user", "SELECT $$:user$$ || $a$ $$ :user $a$ ||  $1 "),
        ("SELECT 1 -- :user\n, :user", "SELECT 1 -- :user\n,  $1 "),
        ("SELECT /* :user /* nested */ :user */ :user", "SELECT /* :user /* nested */ :user */  $1 "),
        ("SELECT :user--comment", "SELECT  $1 --comment"), ("SELECT :user-1", "SELECT  $1 -1"),
        ("SELECT :old-hash, :old_hash, :user", "SELECT  $1 ,  $1 ,  $2 "), ("SELECT a[1:2], x$1", "SELECT a[1:2], x$1"),
        ("SELECT '{}'::jsonb ? :user", "SELECT '{}'::jsonb ?  $1 "),
        ("SELECT B'01', N'x', :user", "SELECT B'01', N'x',  $1 "),
        ("CALL f(a := :user) ; -- end", "CALL f(a :=  $1 )  -- end"),
        ("SELECT tabelle'x', :user", "SELECT tabelle'x',  $1 "),
    ])
    func `the parameters of PostgreSQL are found`(_ text: String, _ expected: String) throws {
        #expect(try Self.translate(text).text == expected)
    }

    @Test(arguments: [
        ("SELECT :user", "SELECT  ?1 "),
        ("SELECT ':user', [:user], `:user`, :user", "SELECT ':user', [:user], `:user`,  ?1 "),
        (#"SELECT 'a\', :user"#, #"SELECT 'a\',  ?1 "#), ("SELECT /* /* */ :user", "SELECT /* /* */  ?1 "),
        ("SELECT -- a\r :user\n:user", "SELECT -- a\r :user\n ?1 "),
        ("SELECT x'00', e'a', :user", "SELECT x'00', e'a',  ?1 "),
    ])
    func `the parameters of SQLite are found`(_ text: String, _ expected: String) throws {
        #expect(try Self.translate(text, .sqlite).text == expected)
    }

    @Test(arguments: [
        ("SELECT :user; SELECT 2", "has a second statement; a query is one statement, at line 1, column 15"),
        ("SELECT :user;;", "has a second statement; a query is one statement, at line 1, column 14"),
        ("SELECT\n  :name", "has the unknown parameter :name, at line 2, column 3"),
        ("SELECT $1", "has a $ that does not begin a quoted string; write :user for a parameter, at line 1, column 8"),
        ("SELECT 'é', :x", "has the unknown parameter :x, at line 1, column 13"),
        ("SELECT \u{0}:user", "has a NUL byte, at line 1, column 8"),
    ])
    func `an error has a place`(_ text: String, _ expected: String) {
        #expect {
            try Self.translate(text)
        } throws: { error in
            (error as? BadRealm)?.message == expected
        }
    }

    @Test(arguments: ["SELECT ?", "SELECT ?1, :user", "SELECT @user", "SELECT $user"])
    func `other parameters of SQLite are errors`(_ text: String) {
        #expect(throws: BadRealm.self) { try Self.translate(text, .sqlite) }
    }

    @Test(arguments: [
        "SELECT 'a", "SELECT \"a", "SELECT /* a", "SELECT /*/", "SELECT $a$ b $$", "SELECT E'a\\", "SELECT E'a",
        "SELECT $$a$",
    ])
    func `a text without its end is left to the database`(_ text: String) throws {
        #expect(try Self.translate(text).text == text)
        if !text.contains("$") { #expect(try Self.translate(text, .sqlite).text == text) }
    }

    /// SQLite itself counts the parameters of random texts.
    @Test func `the scanner finds the parameters that SQLite finds`() throws {
        let queue = try DatabaseQueue()
        // A query of valid parts, in which random characters begin and end strings, names and comments.
        let values = [":user", ":old-hash", "1", "x'00'", "'a'", "':user'", "\"b\"", "`:user`", "''':user'''"]
        let between = [",", ", ", "||", " -- :user\n,", "/* :user */,", "/* ' */ ||\n", ",\n-- \"\n", "+", "/*;*/+"]
        let noise = [
            "'", "\"", "`", "[", "]", "--", "\n", "\r", "/*", "*/", ";", ":", "::", "-", "\u{E9}", "$", "?", "e", "\\",
            "@",
        ]
        var random = Random(seed: 17)
        var (accepted, compiled) = (0, 0)
        try queue.read { database in
            for _ in 0..<5_000 {
                var parts = [random.pick(values)]
                for _ in 0..<random.below(6) { parts += [random.pick(between), random.pick(values)] }
                for _ in 0..<random.below(3) { parts.insert(random.pick(noise), at: random.below(parts.count + 1)) }
                let text = "SELECT " + parts.joined()
                guard let query = try? Self.translate(text, .sqlite) else { continue }
                accepted += 1
                guard let statement = try? database.makeStatement(sql: query.text) else { continue }
                compiled += 1
                // It throws for another number of values.
                #expect(throws: Never.self, "\(text.debugDescription)") {
                    try statement.setArguments(StatementArguments(query.parameters.map(\.rawValue)))
                }
            }
        }
        // Others are rejected by the scanner or by SQLite.
        #expect(accepted > 1500 && compiled > 700, "\(accepted) \(compiled)")
    }

    @Test(arguments: [
        "users", "accounts.users", "Users_2", "a$b", "tabelle_\u{E4}", "db.schema.t",
    ])
    func `names of tables are quoted`(_ text: String) throws {
        let quoted = try SQLQueries.quoted(text, isTable: true, setting: "user-table")
        #expect(quoted == text.split(separator: ".").map { "\"\($0)\"" }.joined(separator: "."))
    }

    @Test(arguments: [
        "", ".", "a.", ".a", "a b", "a\"b", "a;b", "a'b", "a-b", "1a", "$a", "a\u{0}", "a.b.c.d", "a\n",
        String(repeating: "a", count: 64),
    ])
    func `other names of tables are errors`(_ text: String) {
        #expect(throws: (any Error).self) { try SQLQueries.quoted(text, isTable: true, setting: "user-table") }
    }

    @Test(
        arguments: [
            ("0", 0), ("1800000000", 1_800_000_000), ("1970-01-01", 0), ("1970-01-02 00:00", 86_400),
            ("1970-01-01T01:00:00+01", 0), ("1970-01-01 00:00:00.999-01:30", 5400), ("1970-01-01 00:00:00Z", 0),
            ("-infinity", .min), ("1970-01-01 00:00:10   ", 10), ("infinity", nil),
        ] as [(String, Int?)]
    )
    func `times are read`(_ text: String, _ seconds: Int?) {
        #expect(SQLTime(text) == seconds.map { .at($0) } ?? .never)
    }

    @Test(arguments: [
        "", "never", "1800000000000", "1970-13-01", "1970-01-01 25:00", "1970-01-01x", "1970-1-1",
        "1970-01-01 00:00:00+",
        "01/02/1970", "1970-01-01 00:00 AM",
    ])
    func `other times are errors`(_ text: String) {
        #expect(SQLTime(text) == nil)
    }
}

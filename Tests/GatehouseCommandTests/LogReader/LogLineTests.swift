// SPDX-License-Identifier: Apache-2.0

import Bytes
import SeededRandom
import SignIn
import Testing

@testable import GatehouseCommand

@Suite struct LogLineTests {
    static let time = "2026-11-22T02:29:33.764Z"

    static func entry(_ line: String) -> LogEntry? {
        guard case .entry(let entry) = LogLine(Array(line.utf8)) else { return nil }
        return entry
    }

    @Test func `a line of the access log is read`() throws {
        let line = #"""
            \#(Self.time) access: 192.0.2.7 "ann"@"xtech" "GET" "/welcome" 401 21 294766us for="GET app.example.com/x" wrong-credentials module=0 phase=login "the directory is \"down\"" rule="realms.conf:8:9 = /staff GET POST"
            """#
        let entry = try #require(Self.entry(line))
        #expect(entry.kind == .request && entry.time.description == Self.time && entry.level == "")
        #expect(entry[.user] == "ann" && entry[.realm] == "xtech" && entry[.address] == "192.0.2.7")
        #expect(entry.method == "GET" && entry.path == "/welcome" && entry.status == 401)
        #expect(
            entry[.original] == "GET app.example.com/x" && entry.reason == "wrong-credentials" && entry[.module] == "0"
        )
        #expect(entry.fault == #"the directory is "down""# && entry[.rule] == "realms.conf:8:9 = /staff GET POST")
        #expect(entry.remarks == [] && entry.isFailure)
    }

    @Test(arguments: [
        (#"access: - - "-" (ambiguous path) 400 12 3us "the path is ambiguous""#, "400 true"),
        (#"access: 10.0.0.1 - "GET" "/" 200 12 3us"#, "200 false"),
        (#"access: 10.0.0.1 - "GET" "/" 401 12 3us rule="realms.conf:8:9 /""#, "401 false"),
        (#"access: 10.0.0.1 - "GET" "/" 302 12 3us rule="realms.conf:8:9 /""#, "302 false"),
        (#"access: 10.0.0.1 - "GET" "/x" 404 12 3us"#, "404 false"),
        (#"access: 10.0.0.1 "ann"@"town" "GET" "/x" 403 12 3us"#, "403 true"),
        (#"access: 10.0.0.1 - "GET" "/x" 403 12 3us not-trusted"#, "403 true"),
        (
            #"access: 10.0.0.1 "ann"@"town" "POST" "/sign-in" 303 0 3us wrong-credentials module=1 phase=login"#,
            "303 true"
        ),
        (#"access: 10.0.0.1 "ann"@"town" "POST" "/sign-in" 303 0 3us"#, "303 false"),
        (#"access: ::1 "ann"@"town" "GET" "/" 401 12 3us locked"#, "401 true"),
        (
            #"access: ::1 "ann"@"town" "GET" "/" 503 12 3us session-cookie-repeated unavailable module=0 phase=login"#,
            "503 true"
        ),
    ])
    func `a request is a failure if a login was refused or the user is not allowed`(
        line: String,
        expected: String
    ) throws {
        let entry = try #require(Self.entry("\(Self.time) \(line)"))
        #expect("\(entry.status ?? 0) \(entry.isFailure)" == expected)
    }

    @Test func `lines of sessions, sign-ins and locks are read`() throws {
        let begun = try #require(
            Self.entry(
                #"\#(Self.time) gatehouse: a session has begun address=127.0.0.1 host=app.example realm="town" session=yi8iq4C5qvdo88hTJ6WAOQ user="ann""#
            )
        )
        #expect(begun.kind == .sessionBegun && begun[.user] == "ann" && begun[.realm] == "town" && !begun.isFailure)
        #expect(
            begun[.host] == "app.example" && begun[.session] == "yi8iq4C5qvdo88hTJ6WAOQ"
                && begun[.address] == "127.0.0.1"
        )
        let ended = try #require(
            Self.entry(
                #"\#(Self.time) gatehouse: a session has ended address=- cause=replaced host=h realm="t" session=s user="ann""#
            )
        )
        #expect(ended.kind == .sessionEnded && ended[.cause] == "replaced")
        let refused = try #require(
            Self.entry(
                #"\#(Self.time) gatehouse: a sign-in was refused: unavailable module=0 phase=login "no answer" address=::1 realm="town" rule="realms.conf:1:1 /x" user="ann""#
            )
        )
        #expect(refused.kind == .signInRefused && refused.reason == "unavailable" && refused.fault == "no answer")
        #expect(
            refused.isFailure && refused[.address] == "::1" && refused[.user] == "ann"
                && refused[.rule] == "realms.conf:1:1 /x"
        )
        let program = try #require(
            Self.entry(
                #"\#(Self.time) gatehouse: a program has checked a login: refused: locked address=1.2.3.4 program=wiki program-address=::1 realm="town" user="ann""#
            )
        )
        #expect(program.kind == .checkRefused && program.reason == "locked" && program[.user] == "ann")
        let locked = try #require(
            Self.entry(
                #"\#(Self.time) warning gatehouse: locked after 10 failures locked="ann@b@town" until=1795314573"#
            )
        )
        #expect(
            locked.kind == .locked && locked[.user] == "ann@b" && locked[.realm] == "town" && locked.level == "warning"
        )
        let elsewhere = try #require(
            Self.entry(
                #"\#(Self.time) warning gatehouse: the code of a hand-over was presented in the wrong place reason="another host" session=s"#
            )
        )
        #expect(elsewhere.kind == .presentedElsewhere && elsewhere.remarks == ["reason=another host"])
        let other = try #require(Self.entry("\(Self.time) notice gatehouse: the configuration was reloaded"))
        #expect(other.kind == .other && other.text == "the configuration was reloaded" && other.level == "notice")
        for event in LoggedEvent.allCases {
            #expect(Self.entry("\(Self.time) gatehouse: \(event.rawValue) x")?.kind != .other, "\(event)")
        }
    }

    @Test(arguments: [
        "Nov 22 02:29:33 house gatehouse[123]: ", "2026-11-22T02:29:33+0000 house gatehouse[123]: ",
        "2026-11-22T02:29:33.764123456Z ", "2026-11-22T02:29:33.764123456Z stderr F ",
    ])
    func `a line may have a prefix of journald or of a container`(prefix: String) throws {
        let entry = try #require(Self.entry("\(prefix)\(Self.time) access: ::1 - \"GET\" \"/\" 200 12 3us"))
        #expect(entry.time.description == Self.time && entry.status == 200)
    }

    @Test(arguments: [
        "", "x", "2026-11-22T02:29:33.764Z", "2026-11-22T02:29:33.764Z ", "2026-11-22T02:29:33.764Z access",
        "2026-11-22T02:29:33.764Z access: ", "2026-11-22T02:29:33.764Z access: ::1 - \"GET\" \"/\" 200",
        "2026-11-22T02:29:33.764Z access: ::1 - \"GET\" \"/ 200 12 3us",
        "2026-11-22T02:29:33.764Z access: ::1 \"ann\" \"GET\" \"/\" 200 12 3us",
        "2026-11-22T02:29:33.764Z access: ::1 - \"GET\" \"/\" 200 12 3us for=\"GET a/",
        "2026-11-22T02:29:33.764Z access: ::1 - \"GET\" \"/\u{E9}\" 200 12 3us",
        "2026-11-22T02:29:33.764Z access: ::1 - \"GET\" \"/\\u{110000}\" 200 12 3us",
        "2026-11-22T02:29:33.764Z access: ::1 - \"GET\" \"/\\x\" 200 12 3us",
        "2026-11-22T02:29:33.764Z gatehouse: a sign-in was refused: locked user=\"ann",
        "Traceback (most recent call last):",
    ])
    func `a line of another program, or a line that is cut off, is unreadable`(line: String) {
        #expect(LogLine(Array(line.utf8)) == .unreadable)
    }

    @Test func `text of a client cannot forge an entry, a user or a rule`() throws {
        let forged =
            #"x 2026-01-01T00:00:00.000Z access: 6.6.6.6 \"bob\"@\"town\" \"GET\" \"/\" 200 1 1us rule=\"none\""#
        let line = #"\#(Self.time) access: 192.0.2.7 "\#(forged)"@"town" "GET" "/" 401 12 3us wrong-credentials"#
        let entry = try #require(Self.entry(line))
        #expect(
            entry[.address] == "192.0.2.7" && entry.status == 401 && entry[.rule] == nil
                && entry.time.description == Self.time
        )
        #expect(entry[.user] == UTF8Text(forged.replacing("\\\"", with: "\"")))
        // The line is cut off within the text.
        for count in 0..<line.utf8.count - 20 where count > 50 {
            guard let cut = Self.entry(String(line.prefix(count))) else { continue }
            #expect(cut.time.description == Self.time && cut[.user] == entry[.user])
        }
        // In a field without quotes, a user is not trusted.
        let bare = try #require(Self.entry("\(Self.time) gatehouse: locked after 3 failures locked=x user=bob until=1"))
        #expect(bare[.user] == nil)
    }

    @Test func `the number of lost lines is read`() {
        #expect(LogLine(Array("gatehouse: 1982 lines were lost: this stream was not read".utf8)) == .lost(1982))
        #expect(
            LogLine(
                Array("Nov 22 02:29:33 h gatehouse[1]: gatehouse: 2 lines were lost: this stream was not read".utf8)
            )
                == .lost(2)
        )
    }

    @Test func `random bytes, and lines with random changes, do not crash the reader`() {
        var random = Random(seed: 11)
        let line = Array(
            #"\#(Self.time) access: 192.0.2.7 "a\u{e9}n"@"x" "GET" "/w" 401 21 2us for="GET a/x" locked module=0 rule="r:8:9 /s""#
                .utf8
        )
        for _ in 0..<20_000 {
            var changed = line
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let place = Int.random(in: 0..<changed.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: changed[place] = UInt8.random(in: 0...255, using: &random)
                case 1: changed.remove(at: place)
                default: changed.insert(changed[Int.random(in: 0..<changed.count, using: &random)], at: place)
                }
            }
            if case .entry(let entry) = LogLine(changed) {
                #expect(entry.line.utf8.allSatisfy { $0 >= 0x20 && $0 <= 0x7E })
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Bytes
import SeededRandom
import SignIn
import Testing

@testable import GatehouseCommand

@Suite struct LogAnswerTests {
    private static let time = LogLineTests.time

    private func entry(_ line: String, at time: String = time) throws -> LogEntry {
        try #require(LogLineTests.entry("\(time) \(line)"))
    }

    @Test(arguments: [
        (
            #"access: 192.0.2.7 "ann"@"town" "GET" "/staff" 403 21 2us rule="realms.conf:8:9 /staff""#,
            #""ann"@"town" 192.0.2.7 "GET" "/staff" 403: the user does not meet the rule; rule realms.conf:8:9 /staff"#
        ),
        (
            #"access: 192.0.2.7 "ann"@"town" "GET" "/auth/caddy" 401 21 2us for="GET a.example/x" wrong-credentials module=0 phase=login rule="realms.conf:8:9 a.example/""#,
            #""ann"@"town" 192.0.2.7 for "GET a.example/x" 401: the password, code or certificate is wrong (wrong-credentials, module 0); rule realms.conf:8:9 a.example/"#
        ),
        (
            #"access: ::1 "ann"@"town" "GET" "/x" 403 21 2us rule="realms.conf:8:9 /x" needs="group a\u{2028}b, or user bob" has="staff, ops""#,
            #""ann"@"town" ::1 "GET" "/x" 403: the user does not meet the rule: needs group a\u{2028}b, or user bob, has staff, ops; rule realms.conf:8:9 /x"#
        ),
        (
            #"access: ::1 "ann"@"town" "GET" "/x" 403 21 2us rule="r:8:9 /x" needs="group admins" has="""#,
            #""ann"@"town" ::1 "GET" "/x" 403: the user does not meet the rule: needs group admins, has no group; rule r:8:9 /x"#
        ),
        (
            #"access: ::1 "ann"@"town" "GET" "/auth/nginx" 403 21 2us for="GET a.example/x" page rule="r:8:9 /x" needs="group admins" has="""#,
            #""ann"@"town" ::1 for "GET a.example/x" 403 (page for the refused check); rule r:8:9 /x"#
        ),
        (
            #"access: ::1 - "GET" "/x" 403 21 2us rule="realms.conf:8:9 /x" denied-by=nobody"#,
            #"- ::1 "GET" "/x" 403: the rule denies all requests; rule realms.conf:8:9 /x"#
        ),
        (
            #"access: ::1 - "GET" "/x" 403 21 2us rule="realms.conf:8:9 /x" denied-by=networks"#,
            #"- ::1 "GET" "/x" 403: the rule does not allow the address of the client; rule realms.conf:8:9 /x"#
        ),
        (
            #"access: ::1 - "GET" "/x" 403 21 2us rule="realms.conf:8:9 /x""#,
            #"- ::1 "GET" "/x" 403: the rule denies all requests, or the address of the client; rule realms.conf:8:9 /x"#
        ),
        (
            #"access: ::1 - "GET" "/auth/caddy" 403 21 2us for="GET a.example/x" rule=none"#,
            #"- ::1 for "GET a.example/x" 403: no rule matches the request"#
        ),
        (#"access: ::1 - "GET" "/" 200 21 2us"#, #"- ::1 "GET" "/" 200"#),
        (
            #"access: ::1 - "GET" "/" 401 21 2us rule="realms.conf:8:9 /""#,
            #"- ::1 "GET" "/" 401; rule realms.conf:8:9 /"#
        ),
        (
            #"access: ::1 - "-" (ambiguous path) 400 21 2us "a segment is ..""#,
            #"- ::1 "-" (ambiguous path) 400: the request was malformed or ambiguous (a segment is ..)"#
        ),
        (
            #"gatehouse: a sign-in was refused: unavailable module=1 phase=login "no answer" address=::1 realm="town" user="a\u{2028}n\"n""#,
            #""a\u{2028}n\"n"@"town" ::1 sign-in refused: the realm could not be reached (unavailable, module 1; "no answer")"#
        ),
        (
            #"gatehouse: a session has ended address=::1 cause=idle host=a.example realm="town" session=s user="ann""#,
            #""ann"@"town" ::1 session s at a.example ended: idle"#
        ),
        (
            #"warning gatehouse: locked after 10 failures locked="ann@town" until=17"#,
            #"warning "ann"@"town" - locked: too many failed logins"#
        ),
        ("notice gatehouse: the configuration was reloaded", "notice - - the configuration was reloaded"),
    ])
    func `an entry is shown as one line with the reason`(line: String, expected: String) throws {
        #expect(try entry(line).line == "\(Self.time) \(expected)")
    }

    @Test func `characters that control a terminal are escaped`() throws {
        var entry = LogEntry(.other, at: LogTime(milliseconds: 0))
        entry.text = "\u{1B}[2J\u{202E}\r\n\u{7F}"
        entry[.user] = "\u{9B}31m"
        entry.remarks = ["\u{7}"]
        entry[.address] = "\u{1B}"
        for kind in [LogEntry.Kind.other, .request, .sessionEnded, .signInRefused] {
            entry.kind = kind
            #expect(entry.line.utf8.allSatisfy { $0 >= 0x20 && $0 <= 0x7E })
        }
    }

    @Test func `a filter selects by the bytes of the user, by address, time and failure`() throws {
        let entry = try entry(#"access: ::1 "\u{e9}ve"@"town" "GET" "/" 200 1 1us"#)
        var filter = LogFilter()
        #expect(filter.includes(entry))
        filter.user = "\u{E9}ve"
        #expect(filter.includes(entry))
        // The same letter in another encoding is another user.
        filter.user = "e\u{301}ve"
        #expect(!filter.includes(entry))
        filter.user = nil
        filter.address = "::1"
        filter.since = entry.time
        #expect(filter.includes(entry))
        filter.until = entry.time
        #expect(!filter.includes(entry))
        filter = LogFilter()
        filter.onlyFailures = true
        #expect(!filter.includes(entry))
    }

    @Test func `the page for a refused check is no second failure, and no client can forge it`() throws {
        let check = #"access: ::1 "ann"@"town" "GET" "/auth/nginx" 403 21 2us for="GET a.example/x" rule="r:8:9 /x""#
        let page = check.replacing(" rule=", with: " page rule=")
        var filter = LogFilter()
        filter.onlyFailures = true
        var summary = LogSummary()
        for line in [check, page] { summary.add(try entry(line)) }
        #expect(try filter.includes(entry(check)) && !filter.includes(entry(page)))
        #expect(summary.entries == 2 && summary.failures == 1)
        #expect(try entry(page.replacing(" page ", with: #" "page" "#)).isFailure)
    }

    @Test func `a refusal with two lines is counted once`() throws {
        let refused = #"gatehouse: a sign-in was refused: locked address=::1 realm="town" user="ann""#
        let request = #"access: ::1 "ann"@"town" "POST" "/sign-in" 303 0 3us locked"#
        let others = [
            request.replacing("ann", with: "bob"), request.replacing("::1", with: "::2"),
            request.replacing("locked", with: "disabled"), request.replacing(" locked", with: ""),
        ]
        var repeated = RepeatedFailures()
        func isRepeated(_ line: String, at time: String = Self.time, isSelected: Bool = true) throws -> Bool {
            repeated.isRepeated(try entry(line, at: time), isSelected: isSelected)
        }
        // A filter has left out the first line, so the second one is shown as the refusal.
        #expect(try !isRepeated(refused, isSelected: false))
        #expect(try !isRepeated(request))
        // Without the first line, as with Basic, the line of the request is the only one.
        #expect(try !isRepeated(request))
        #expect(try !isRepeated(refused))
        for other in others { #expect(try !isRepeated(other)) }
        #expect(try isRepeated(request))
        #expect(try !isRepeated(request))
        // Two sign-ins at a time.
        #expect(try !isRepeated(refused))
        #expect(try !isRepeated(refused))
        #expect(try isRepeated(request))
        #expect(try isRepeated(request))
        #expect(try !isRepeated(request))
        // The line of a later request is another refusal.
        #expect(try !isRepeated(refused))
        #expect(try !isRepeated(request, at: "2026-11-22T02:31:33.764Z"))
    }

    @Test func `without an access log the number of awaited lines is limited`() throws {
        var repeated = RepeatedFailures()
        var refused = try entry(#"gatehouse: a sign-in was refused: locked address=::1 realm="town" user="ann""#)
        for number in 0..<20_000 {
            refused[.user] = UTF8Text("user \(number)")
            let isRepeated = repeated.isRepeated(refused)
            #expect(!isRepeated)
        }
        #expect(repeated.waiting.count == RepeatedFailures.maximumWaiting)
    }

    @Test func `the most frequent values are counted exactly while there are counters`() {
        var table = FrequencyTable<UTF8Text>(capacity: 3)
        for text in ["a", "b", "c", "b", "c", "c"] as [UTF8Text] { table.count(text) }
        #expect(table.mostFrequent(2) { $0 }.map { "\($0.value.string) \($0.count)" } == ["c 3", "b 2"])
        #expect(table.error == 0)
    }

    @Test func `frequent values are found among any number of others, with a known error`() {
        var random = Random(seed: 7)
        var table = FrequencyTable<UTF8Text>(capacity: 100)
        var counts: [UTF8Text: Int] = [:]
        for number in 0..<50_000 {
            let text = random.below(10) == 0 ? UTF8Text("often \(random.below(3))") : UTF8Text("once \(number)")
            table.count(text)
            counts[text, default: 0] += 1
        }
        let top = table.mostFrequent(3) { $0 }
        #expect(Set(top.map(\.value)) == ["often 0", "often 1", "often 2"])
        for (text, count) in top {
            let exact = counts[text] ?? 0
            #expect(count <= exact && exact <= count + table.error)
        }
        // No value is shown that may be less frequent than one that is not shown.
        #expect(table.mostFrequent(1000) { $0 }.count == 3)
    }

    @Test func `a summary counts failures by user, address, reason and rule`() throws {
        var summary = LogSummary()
        for line in [
            #"access: ::1 "ann"@"town" "GET" "/" 200 1 1us"#,
            #"access: ::1 "ann"@"town" "GET" "/" 401 1 1us wrong-credentials rule="r:1:1 /""#,
            #"access: ::2 "ann"@"town" "GET" "/" 401 1 1us wrong-credentials rule="r:1:1 /""#,
            #"access: ::1 "bob"@"town" "GET" "/" 403 1 1us rule="r:2:1 /x""#,
            #"access: ::1 - "GET" "/" 401 1 1us rule="r:1:1 /""#,
        ] { summary.add(try entry(line)) }
        summary.add(try entry("gatehouse: hello", at: "2026-11-23T00:00:00.000Z"))
        #expect(summary.entries == 6 && summary.failures == 3 && summary.error == 0)
        #expect(summary.times?.upperBound.description == "2026-11-23T00:00:00.000Z")
        #expect(
            summary.users.mostFrequent(9) { $0.text }.map { "\($0.count) \($0.value.text.string)" }
                == [#"2 "ann"@"town""#, #"1 "bob"@"town""#]
        )
        func counts(_ table: FrequencyTable<UTF8Text>) -> [String] {
            table.mostFrequent(9) { $0 }.map { "\($0.count) \($0.value.string)" }
        }
        #expect(counts(summary.addresses) == ["2 ::1", "1 ::2"])
        #expect(counts(summary.reasons) == ["2 wrong-credentials", "1 403"])
        #expect(counts(summary.rules) == ["2 r:1:1 /", "1 r:2:1 /x"])
    }
}

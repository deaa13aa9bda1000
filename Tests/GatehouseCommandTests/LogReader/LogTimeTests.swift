// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import GatehouseCommand

@Suite struct LogTimeTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00.000Z", 0), ("2000-02-29T23:59:59.999Z", 951_868_799_999),
        ("2026-11-22T02:29:33.448Z", 1_795_314_573_448), ("1969-12-31T23:59:59.999Z", -1),
        ("2100-03-01T00:00:00.000Z", 4_107_542_400_000),
    ])
    func `a time of the log is read and written`(text: String, milliseconds: Int) {
        #expect(LogTime(Array(text.utf8), at: 0)?.milliseconds == milliseconds)
        #expect(LogTime(milliseconds: milliseconds).description == text)
    }

    @Test func `random times are read as they are written`() {
        var random = Random(seed: 5)
        for _ in 0..<10_000 {
            let time = LogTime(milliseconds: Int.random(in: 0..<250_000_000_000_000, using: &random))
            #expect(LogTime(Array(time.description.utf8), at: 0) == time)
        }
    }

    @Test(arguments: [
        "2026-02-29T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-00-01T00:00:00.000Z", "2026-01-01T24:00:00.000Z",
        "2026-01-01T00:60:00.000Z", "2026-01-01 00:00:00.000Z", "2026-01-01T00:00:00.000", "2026-01-01T00:00:00.0x0Z",
        "",
        "2026-01-01T00:00:00,000Z",
    ])
    func `a text that is no time is not read`(text: String) {
        #expect(LogTime(Array(text.utf8), at: 0) == nil)
    }

    @Test(arguments: [
        // Now is 2026-11-22T10:32:01.500Z.
        ("2h", "2026-11-22T12:32:01.500Z"), ("7d", "2026-11-29T10:32:01.500Z"), ("90s", "2026-11-22T10:33:31.500Z"),
        ("2026-12-01T18:00Z", "2026-12-01T18:00:00.000Z"), ("2026-12-01T18:00+01:00", "2026-12-01T17:00:00.000Z"),
        ("2026-12-01", "2026-12-01T00:00:00.000Z"), ("2020-01-01", "2020-01-01T00:00:00.000Z"),
    ])
    func `a time after now is read`(text: String, expected: String) {
        let now = LogTime(milliseconds: 1_795_343_521_500)
        #expect(LogTime(after: now, text)?.description == expected)
        for wrong in ["10:00", "", "2", "h", "-2h", "2026-13-01", "2026-12-01T25:00"] {
            #expect(LogTime(after: now, wrong) == nil, "\(wrong)")
        }
    }

    @Test(arguments: [
        // Now is 2026-11-22T10:32:01.500Z.
        ("10:00", "2026-11-22T10:00:00.000Z"), ("10:32:01", "2026-11-22T10:32:01.000Z"),
        ("10:33", "2026-11-21T10:33:00.000Z"), ("23:59", "2026-11-21T23:59:00.000Z"),
        ("00:00", "2026-11-22T00:00:00.000Z"), ("2h", "2026-11-22T08:32:01.500Z"), ("90s", "2026-11-22T10:30:31.500Z"),
        ("30m", "2026-11-22T10:02:01.500Z"), ("7d", "2026-11-15T10:32:01.500Z"), ("0s", "2026-11-22T10:32:01.500Z"),
        ("2026-11-20", "2026-11-20T00:00:00.000Z"), ("2026-11-20T09:30", "2026-11-20T09:30:00.000Z"),
        ("2026-11-20T09:30:15Z", "2026-11-20T09:30:15.000Z"), ("2026-11-20T09:30:15.25Z", "2026-11-20T09:30:15.250Z"),
        ("2026-11-20T09:30+01:00", "2026-11-20T08:30:00.000Z"), ("2026-11-20T09:30-05:30", "2026-11-20T15:00:00.000Z"),
        ("2026-11-20T09:30:15.1234567Z", "2026-11-20T09:30:15.123Z"),
        ("2026-11-22T02:29:33.448Z", "2026-11-22T02:29:33.448Z"),
    ])
    func `a time that a user has typed is read`(text: String, expected: String) throws {
        let now = try #require(LogTime(Array("2026-11-22T10:32:01.500Z".utf8), at: 0))
        #expect(LogTime(text, now: now)?.description == expected)
    }

    @Test(arguments: [
        "", "10", "h", "-2h", "2w", "2 h", "25:00", "10:60", "10:00:60", "1:00", "10:00:00:00", "2026-11", "2026-11-31",
        "2026-11-20T", "2026-11-20T9:30", "2026-11-20 09:30", "2026-11-20T09:30+1", "2026-11-20T09:30+25:00", "today",
        "99999999999999999999h", "2026-11-20T09:30:15.Z", "١٠:٠٠",
    ])
    func `any other text is no time`(text: String) {
        #expect(LogTime(text, now: LogTime(milliseconds: 1_795_000_000_000)) == nil)
    }
}

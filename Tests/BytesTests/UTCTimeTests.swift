// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import Testing

@Suite struct UTCTimeTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (951_868_799, "2000-02-29T23:59:59Z"),
        (1_800_000_000, "2027-01-15T08:00:00Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
    ])
    func `a time is written in the format of ISO 8601`(seconds: Int, text: String) {
        #expect(UTCTime.text(seconds) == text)
        #expect(UTCTime.readableText(seconds) == "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC")
    }

    @Test func `every day of four centuries is written as Foundation writes it, and read back`() {
        let style = Date.ISO8601FormatStyle()
        for day in stride(from: -73_000, to: 73_000, by: 7) {
            let seconds = day * 86_400 + (day * 7919) % 86_400
            let text = UTCTime.text(seconds)
            #expect(text == Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(style))
            #expect(UTCTime.dayText(seconds) == String(text.prefix(10)))
            var reader = UTCTimeReader(Array(text.utf8))
            let day = reader.day()
            let isSeparated = reader.skip("T")
            let second = reader.timeOfDay()
            #expect(isSeparated && reader.hasSeconds && reader.skip("Z") && reader.isAtEnd)
            #expect(day.flatMap { day in second.map { day + $0 } } == seconds)
        }
    }

    @Test(arguments: [
        "2027-02-29", "2027-00-01", "2027-13-01", "2027-04-31", "2027-04-00", "27-04-01", "2027-4-1", "2027/04/01",
        "2027-04", "",
    ])
    func `a text that is no day is not read`(text: String) {
        var reader = UTCTimeReader(Array(text.utf8))
        #expect(reader.day() == nil)
    }

    @Test(
        arguments: [
            ("00:00", 0, false), ("18:05:30", 65_130, true), ("23:59:60", nil, true), ("24:00", nil, false),
            ("10:60", nil, false),
            ("1:00", nil, false),
        ] as [(String, Int?, Bool)]
    )
    func `a time of the day is read`(text: String, seconds: Int?, hasSeconds: Bool) {
        var reader = UTCTimeReader(Array(text.utf8))
        #expect(reader.timeOfDay() == seconds && reader.hasSeconds == hasSeconds)
    }

    /// The first time is the example of RFC 9110 section 5.6.7.
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"), (-1, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ])
    func `a time is written in the format of HTTP`(seconds: Int, text: String) {
        #expect(UTCTime.httpDate(seconds) == text)
    }

    @Test func `every number has a text`() {
        for seconds in [Int.min, .min + 1, .max] { #expect(UTCTime.text(seconds).hasSuffix("Z")) }
    }
}

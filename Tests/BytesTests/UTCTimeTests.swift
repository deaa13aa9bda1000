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
            #expect(UTCTime.text(seconds) == Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(style))
        }
        #expect(UTCTime.seconds(year: 2027, month: 1, day: 15, hour: 8, minute: 0, second: 0) == 1_800_000_000)
        #expect(UTCTime.seconds(year: 2027, month: 2, day: 29, hour: 0, minute: 0, second: 0) == nil)
    }
}

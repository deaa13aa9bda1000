// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import GatehouseCommand

@Suite struct LineTimeTests {
    @Test func `the time of a line is the present time, in UTC and with milliseconds`() throws {
        let before = Date()
        var line = Array("before ".utf8)
        LineTime.append(to: &line)
        let after = Date()
        let text = String(decoding: line.dropFirst(7), as: UTF8.self)
        #expect(text.utf8.count == LineTime.length)
        #expect(text.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#) != nil, "\(text)")
        let time = try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        #expect(time >= before.addingTimeInterval(-0.002) && time <= after)
    }
}

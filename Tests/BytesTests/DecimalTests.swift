// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bytes

@Suite struct DecimalTests {
    @Test func `a number is appended with the digits of its description`() {
        for number in [0, 1, 9, 10, 99, 100, 1_234_567_890, -1, -10, Int.max, Int.min] {
            var bytes = Array("before ".utf8)
            ASCII.append(decimal: number, to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == "before \(number)")
        }
    }

    @Test(arguments: [
        (0, 3, "000"), (7, 3, "007"), (999, 3, "999"), (1234, 3, "1234"), (2026, 4, "2026"), (-5, 2, "-05"),
    ])
    func `a short number is filled with zeros`(number: Int, width: Int, text: String) {
        var bytes: [UInt8] = []
        ASCII.append(decimal: number, width: width, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }
}

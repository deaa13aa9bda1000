// SPDX-License-Identifier: Apache-2.0

import Bytes
import Testing

struct LineTextTests {
    @Test(arguments: [
        ("plain text", "plain text"), ("", ""), ("\u{FC}\u{6F22}", "\u{FC}\u{6F22}"), ("a\r\nb\tc\0d", "a  b c d"),
        ("\u{1B}[2J\u{85}\u{7F}", " [2J  "), ("\u{202E}\u{2028}\u{2066}\u{200F}\u{61C}x", "     x"),
    ])
    func `control characters become blanks`(text: String, line: String) {
        #expect(LineText.line(text) == line)
    }
}

// SPDX-License-Identifier: Apache-2.0

import RealmConfiguration
import RealmKit
import Testing

struct RealmLogTests {
    @Test func `a name in a message of a realm cannot look like a line of the log`() {
        let lines = LogLines()
        RealmLog(lines.logger)("the password of x\n2026-11-25 access: 200\u{1B}[2J\u{202E} cannot be read", .error)
        #expect(lines.text.hasPrefix("the password of x 2026-11-25 access: 200 [2J  cannot be read"), "\(lines.text)")
    }
}

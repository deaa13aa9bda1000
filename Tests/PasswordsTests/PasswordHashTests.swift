// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Passwords
import Testing

@Suite struct PasswordHashTests {
    @Test func `a text of no known format is no hash`() {
        #expect(throws: BadHash.self) { try PasswordFormats.read("hello") }
    }
}

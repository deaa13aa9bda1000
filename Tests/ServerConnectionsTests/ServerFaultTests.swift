// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import ServerConnections
import Testing

struct ServerFaultTests {
    @Test func `a name of a directory cannot begin a line of the log, or control a terminal`() {
        let fault = ServerFault(.failed, "cn=x\n2026-11-25 access: 200\u{1B}[2J\u{202E}\u{2028}ü")
        #expect(fault.log == "cn=x 2026-11-25 access: 200 [2J  ü")
    }
}

// SPDX-License-Identifier: Apache-2.0

import Glibc
import RealmKit
import ServerConnections
import Testing
import Workers

struct ServerFaultTests {
    @Test func `a server that never stops sending is late, too`() throws {
        var pair: [Int32] = [0, 0]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for descriptor in pair { close(descriptor) } }
        #expect(unsafe write(pair[1], "x", 1) == 1)
        let call = ServerCall(until: MonotonicTime.now + 60_000_000_000)
        try call.wait(for: pair[0], events: Int32(POLLIN), until: MonotonicTime.now + 10_000_000_000)
        #expect(throws: ServerFault(.timedOut, "")) {
            try call.wait(for: pair[0], events: Int32(POLLIN), until: MonotonicTime.now)
        }
    }

    @Test func `only faults of load are an overload for a login`() {
        for code in ServerFault.Code.allCases {
            let isLoad = code == .full || code == .overloaded
            #expect(ServerFault(code, "x").loginFault.kind == (isLoad ? .overloaded : .unavailable))
        }
    }

    @Test func `a name of a directory cannot begin a line of the log, or control a terminal`() {
        let fault = ServerFault(.failed, "cn=x\n2026-11-25 access: 200\u{1B}[2J\u{202E}\u{2028}ü")
        #expect(fault.log == "cn=x 2026-11-25 access: 200 [2J  ü")
    }
}

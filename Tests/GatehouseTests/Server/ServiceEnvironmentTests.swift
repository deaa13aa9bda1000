// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Gatehouse

/// The variables of a service manager.
///
/// `ServiceManagerTests` of EndToEndTests has real sockets.
@Suite struct ServiceEnvironmentTests {
    private func manager(_ environment: [String: String]) throws -> ServiceManager {
        try ServiceManager(process: 42) { environment[$0] }
    }

    @Test func `a process that was started by hand has no service manager`() throws {
        let manager = try manager([:])
        #expect(manager.sockets.isEmpty)
        #expect(manager.watchdogTime == nil)
        #expect(manager.notifySocket == nil)
        #expect(manager.notify(.ready) == nil)
    }

    @Test func `variables for another process are ignored`() throws {
        let manager = try manager([
            "LISTEN_PID": "41", "LISTEN_FDS": "1", "WATCHDOG_PID": "41", "WATCHDOG_USEC": "1000",
        ])
        #expect(manager.sockets.isEmpty)
        #expect(manager.watchdogTime == nil)
    }

    @Test func `the time of the watchdog`() throws {
        #expect(try manager(["WATCHDOG_USEC": "1500000"]).watchdogTime == .milliseconds(1500))
        #expect(try manager(["WATCHDOG_USEC": "1", "WATCHDOG_PID": "42"]).watchdogTime == .microseconds(1))
    }

    @Test func `a watchdog time of 0 is no watchdog, with a warning`() throws {
        let manager = try manager(["WATCHDOG_USEC": "0"])
        #expect(manager.watchdogTime == nil)
        #expect(manager.warnings == ["WATCHDOG_USEC is 0: the service manager is not told that the server is alive"])
        #expect(try self.manager(["WATCHDOG_USEC": "1"]).warnings.isEmpty)
        #expect(try self.manager(["WATCHDOG_USEC": "0", "WATCHDOG_PID": "41"]).warnings.isEmpty)
    }

    @Test(arguments: [
        (["WATCHDOG_USEC": "-5"], "WATCHDOG_USEC is not a number of microseconds: -5"),
        (["WATCHDOG_USEC": "30s"], "WATCHDOG_USEC is not a number of microseconds: 30s"),
        (["WATCHDOG_USEC": "5", "WATCHDOG_PID": "x"], "WATCHDOG_PID is not the identifier of a process: x"),
        (["LISTEN_FDS": "1", "LISTEN_PID": ""], "LISTEN_PID is not the identifier of a process: "),
        (["LISTEN_FDS": "1", "LISTEN_PID": "-42"], "LISTEN_PID is not the identifier of a process: -42"),
        (["LISTEN_FDS": "-1", "LISTEN_PID": "42"], "LISTEN_FDS is not a number from 0 to 256: -1"),
        (["LISTEN_FDS": "257", "LISTEN_PID": "42"], "LISTEN_FDS is not a number from 0 to 256: 257"),
        (["LISTEN_FDS": "one", "LISTEN_PID": "42"], "LISTEN_FDS is not a number from 0 to 256: one"),
        (
            ["LISTEN_FDS": "2", "LISTEN_PID": "42", "LISTEN_FDNAMES": "web"],
            "LISTEN_FDNAMES has 1 names, but LISTEN_FDS is 2"
        ),
        (["NOTIFY_SOCKET": "relative"], "NOTIFY_SOCKET is neither an absolute path nor an abstract socket: relative"),
        (["NOTIFY_SOCKET": "@"], "NOTIFY_SOCKET is neither an absolute path nor an abstract socket: @"),
        (["NOTIFY_SOCKET": "vsock:2:1"], "NOTIFY_SOCKET is neither an absolute path nor an abstract socket: vsock:2:1"),
    ])
    func `a variable that cannot be read is a fault`(environment: [String: String], message: String) {
        #expect(throws: ServiceManagerFault(message)) { try manager(environment) }
    }

    @Test func `the address of the socket has at most 107 bytes as a path, and 108 with the @ of an abstract name`() {
        let path = "/" + String(repeating: "a", count: 106)
        let name = "@" + String(repeating: "a", count: 107)
        #expect(throws: Never.self) { try manager(["NOTIFY_SOCKET": path]) }
        #expect(throws: Never.self) { try manager(["NOTIFY_SOCKET": name]) }
        for address in [path + "a", name + "a"] {
            #expect(throws: ServiceManagerFault("NOTIFY_SOCKET is too long: \(address)")) {
                try manager(["NOTIFY_SOCKET": address])
            }
        }
    }

    @Test func `a service manager that is gone does not stop the service`() throws {
        let manager = try manager(["NOTIFY_SOCKET": "/nonexistent/notify"])
        let fault = ServiceManagerFault(
            "NOTIFY_SOCKET /nonexistent/notify cannot be reached: No such file or directory"
        )
        #expect(manager.notify(.ready) == fault)
    }

    @Test func `a status is one line of at most 500 characters`() {
        #expect(NotifyState.status("one\nREADY=1\u{7F}\u{85}two").line == "STATUS=one READY=1  two")
        #expect(NotifyState.status(String(repeating: "é", count: 600)).line.count == 507)
    }

    @Test func `a reload has the time of the monotonic clock`() throws {
        let lines = NotifyState.reloading.line.split(separator: "\n")
        #expect(lines[0] == "RELOADING=1")
        let later = NotifyState.reloading.line.split(separator: "\n")
        let times = try [lines, later].map { try #require(UInt64($0[1].dropFirst("MONOTONIC_USEC=".count))) }
        #expect(times[0] > 0 && times[0] <= times[1])
    }
}

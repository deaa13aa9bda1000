// SPDX-License-Identifier: Apache-2.0

import HTTPSTesting
import RealmKit
import TLSTesting
import TestTools
import Testing
import Workers

@testable import RealmRemote

@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct ConcurrencyTests {
    @Test func `identical logins at the same time are one call`() async throws {
        let latch = Latch()
        try await RemoteSetup.run(respond: { _ in [.wait(latch), empty("204 No Content")] }) { setup in
            let realm = try setup.realm()
            try await withThrowingTaskGroup(of: LoginReport.self) { group in
                for _ in 0..<5 { group.addTask { try await realm.login("ann", "secret") } }
                group.addTask { try await realm.login("ann", "other") }
                group.addTask { try await realm.login("ben", "secret") }
                try await Waiting.until { realm.checks.shared.waitingCallers == 7 && setup.service.requests.count == 3 }
                latch.open()
                for try await report in group { #expect(report.identity != nil) }
            }
            #expect(setup.service.requests.count == 3)
            // Later logins are calls of their own.
            _ = try await realm.login("ann", "secret")
            #expect(setup.service.requests.count == 4)
        }
    }

    @Test func `a cancelled login does not affect an identical one`() async throws {
        let latch = Latch()
        try await RemoteSetup.run(respond: { _ in [.wait(latch), empty("204 No Content")] }) { setup in
            let realm = try setup.realm()
            let first = Task { try await realm.login("ann", "secret") }
            try await Waiting.until { setup.service.requests.count == 1 }
            let second = Task { try await realm.login("ann", "secret") }
            try await Waiting.until { realm.checks.shared.waitingCallers == 2 }
            first.cancel()
            #expect(try await first.value.identity == nil)
            #expect(realm.checks.shared.waitingCallers == 1)
            latch.open()
            #expect(try await second.value.identity != nil)
            #expect(setup.service.requests.count == 1)
        }
    }

    @Test func `the logins of one user hold half of the calls`() async throws {
        let latch = Latch()
        try await RemoteSetup.run(respond: { _ in [.wait(latch), empty("204 No Content")] }) { setup in
            let realm = try setup.realm(["connections": ["4"]])
            try await withThrowingTaskGroup(of: LoginReport.self) { group in
                for (number, name) in ["ann", "Ann", "ANN"].enumerated() {
                    group.addTask { try await realm.login(name, "secret \(number)") }
                }
                try await Waiting.until { setup.service.requests.count == 2 && realm.checks.slots.load.waiting == 1 }
                group.addTask { try await realm.login("ben", "secret") }
                try await Waiting.until { setup.service.requests.count == 3 }
                #expect(realm.checks.slots.load.waiting == 1)
                latch.open()
                for try await report in group { #expect(report.identity != nil) }
            }
        }
    }

    /// Fills the only slot and a queue of one, and then makes another login.
    private func fill(whenFull: String) async throws -> (waiting: LoginReport, last: LoginReport, log: LogEntries) {
        let latch = Latch()
        return try await RemoteSetup.run(respond: { _ in [.wait(latch), empty("204 No Content")] }) { setup in
            let realm = try setup.realm(["connections": ["1"], "queue": ["1"], "when-full": [whenFull]])
            let running = Task { try await realm.login("a", "secret") }
            try await Waiting.until { setup.service.requests.count == 1 }
            let waiting = Task { try await realm.login("b", "secret") }
            try await Waiting.until { realm.checks.slots.load.waiting == 1 }
            let last = Task { try await realm.login("c", "secret") }
            try await Waiting.until { !setup.log.all.isEmpty }
            latch.open()
            #expect(try await running.value.identity != nil)
            return (try await waiting.value, try await last.value, setup.log)
        }
    }

    @Test func `a full queue refuses the new login`() async throws {
        let (waiting, last, log) = try await fill(whenFull: "refuse")
        #expect(waiting.identity != nil)
        #expect(last.failure == .overloaded && last.isUnavailable)
        #expect(log.contains("too many logins wait"))
    }

    @Test func `a full queue cancels the oldest login`() async throws {
        let (waiting, last, log) = try await fill(whenFull: "cancel-oldest")
        #expect(waiting.failure == .overloaded)
        #expect(last.identity != nil)
        #expect(log.contains("too many logins wait"))
    }

    @Test(arguments: [true, false])
    func `a login that is late while the service answers others is an overload`(others: Bool) async throws {
        let latch = Latch()
        let respond: @Sendable (TestService.Received) -> [TestService.Step] = { request in
            request.connection == 0 ? [.wait(latch), empty("204 No Content")] : [empty("204 No Content")]
        }
        try await RemoteSetup.run(respond: respond) { setup in
            let realm = try setup.realm(["timeout": ["3s"]])
            let late = Task { try await realm.login("ann", "secret") }
            try await Waiting.until { setup.service.requests.count == 1 }
            if others { #expect(try await realm.login("ben", "secret").identity != nil) }
            #expect(try await late.value.failure == (others ? .overloaded : .unavailable))
            latch.open()
        }
    }

    @Test func `a hundred logins at once`() async throws {
        let respond: @Sendable (TestService.Received) -> [TestService.Step] = { request in
            let name = String(decoding: request.body, as: UTF8.self).split(separator: "\"")[3]
            return [json(#"{"user":"\#(name)","groups":["of \#(name)"]}"#)]
        }
        try await RemoteSetup.run(respond: respond) { setup in
            let realm = try setup.realm(["credentials": ["json"], "user-path": ["/user"], "groups-path": ["/groups"]])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let report = try await realm.login("user\(number)", "secret")
                        #expect(report.identity?.subject.groups == ["of user\(number)"])
                    }
                }
                try await group.waitForAll()
            }
            #expect(setup.service.requests.count == 100)
            #expect(setup.service.connections <= 16)
        }
    }
}

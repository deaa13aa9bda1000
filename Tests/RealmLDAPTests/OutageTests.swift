// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import RealmTesting
import ServerConnections
import Synchronization
import TestTools
import Testing

@testable import RealmLDAP

@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct OutageTests {
    /// Returns the results of logins at the same time: the number of accepted ones, and of each failure.
    private func logins(_ count: Int, with realm: LDAPRealm) async throws -> [LoginFailure?: Int] {
        try await withThrowingTaskGroup(of: LoginFailure?.self) { group in
            for _ in 0..<count { group.addTask { try await realm.login(SlapdServer.ann).failure } }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    @Test func `a server that is killed and started again costs no login while another one is up`() async throws {
        let (first, second) = (try await SlapdServer(), try await SlapdServer())
        let log = LogEntries()
        let realm = try LDAPSetup.realm(first, ["directory": [first.tlsURL, second.tlsURL]], log: log)
        #expect(try await logins(50, with: realm) == [nil: 50])
        #expect(second.binds == [])
        await first.kill()
        #expect(try await logins(50, with: realm) == [nil: 50])
        #expect(log.contains("\(first.tlsURL): no connection: Connection refused"), "\(log.all)")
        try await first.start()
        try await Waiting.until { log.contains("\(first.tlsURL): the server answers again") }
        let binds = second.binds.count
        #expect(try await logins(50, with: realm) == [nil: 50])
        #expect(second.binds.count == binds)
    }

    @Test func `a server that hangs costs at most one time-out for each connection`() async throws {
        let (first, second) = (try await SlapdServer(), try await SlapdServer())
        let log = LogEntries()
        let realm = try LDAPSetup.realm(
            first,
            [
                "directory": [first.tlsURL, second.tlsURL], "pool-size": ["3"], "search-timeout": ["300ms"],
                "connect-timeout": ["300ms"], "timeout": ["20s"],
            ],
            log: log
        )
        #expect(try await logins(20, with: realm) == [nil: 20])
        first.suspend()
        let start = ContinuousClock.now
        #expect(try await logins(300, with: realm) == [nil: 300])
        #expect(start.duration(to: .now) < .seconds(10))
        let late = try await realm.login(SlapdServer.ann)
        #expect(late.failure == nil)
        #expect(!late.noteTexts.contains { $0.contains(first.tlsURL) }, "\(late.noteTexts)")
        first.resume()
        try await Waiting.until { log.contains("\(first.tlsURL): the server answers again") }
        #expect(try await realm.login(SlapdServer.ann).noteTexts.contains { $0.contains(first.tlsURL) })
    }

    @Test func `without any server a login is unavailable at once, and never a wrong password`() async throws {
        let server = try await SlapdServer()
        let log = LogEntries()
        let realm = try LDAPSetup.realm(server, log: log)
        #expect(try await realm.login(SlapdServer.ann).failure == nil)
        await server.stop()
        for _ in 0..<20 {
            #expect(try await realm.login(SlapdServer.ann).failure == .unavailable)
            #expect(try await realm.login("ann", "wrong").failure == .unavailable)
            #expect(try await realm.login("zoe", "wrong").failure == .unavailable)
        }
        try await server.start()
        try await Waiting.until { log.contains("the server answers again") }
        #expect(try await realm.login(SlapdServer.ann).failure == nil)
        #expect(try await realm.login("ann", "wrong").failure == .wrongCredentials)
    }

    @Test func `the realm keeps the contract while its server is stopped and hangs`() async throws {
        let server = try await SlapdServer()
        // The wrong passwords of the test would lock the users.
        try await server.modify(
            ldif: """
                dn: cn=default,ou=policies,\(SlapdServer.base)
                changetype: modify
                replace: pwdLockout
                pwdLockout: FALSE

                """
        )
        let deadline = Duration.seconds(4)
        let people = [SlapdServer.ann, SlapdServer.ben]
        let realm = Mutex<LDAPRealm?>(nil)
        var conformance = RealmBackEndConformance(
            users: people.map { person in
                .init(
                    person.uid,
                    password: person.password,
                    groups: person.uid == "ann" ? ["comma, group", "level1", "staff"] : ["ring-a", "staff"]
                )
            },
            faults: server.faults,
            deadline: deadline
        ) { services in
            let made = try LDAPSetup.realm(
                try LDAPSetup.properties(server.tlsURL, LDAPSetup.limitsDuringFaults),
                services: services
            )
            realm.withLock { $0 = made }
            return .forConformance(made, modules: [try made.module()], deadline: deadline)
        }
        conformance.openCalls = { realm.withLock { $0 }?.directory.pool.runningCalls ?? 0 }
        conformance.acceptsOtherSpellings = true
        conformance.usersWithProblems = [.init("dora", password: SlapdServer.dora.password)]
        conformance.stored = { "\(server.received.contains("PASSMOD"))" }
        let report = await conformance.check()
        #expect(report.violations == [])
    }
}
#endif

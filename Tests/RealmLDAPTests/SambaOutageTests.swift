// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import RealmTesting
import ServerConnections
import Synchronization
import Testing

@testable import RealmLDAP

@Suite(.enabled(if: SambaServer.unavailable == nil, "\(SambaServer.unavailable ?? "")"))
struct SambaOutageTests {
    @Test func `the realm keeps the contract while its domain controller is stopped and hangs`() async throws {
        let server = try await SambaServer()
        // The wrong passwords of the test would lock the users.
        try await server.modify(
            ldif: "dn: \(SambaServer.base)\nchangetype: modify\nreplace: lockoutThreshold\nlockoutThreshold: 0\n"
        )
        let deadline = Duration.seconds(4)
        let realm = Mutex<LDAPRealm?>(nil)
        var conformance = RealmBackEndConformance(
            users: [
                .init("alice", password: SambaServer.alice.password, groups: ["Domain Users", "Team"]),
                .init("bob", password: SambaServer.bob.password, groups: ["Domain Users"]),
                .init(
                    "EXAMPLE\\paul",
                    password: SambaServer.paul.password,
                    groups: ["Accountants", "Domain Users"],
                    acceptedAs: "paul"
                ),
            ],
            rejectedUsers: [
                .init("dave", password: SambaServer.dave.password), .init("erin", password: SambaServer.erin.password),
                .init("lara", password: SambaServer.lara.password), .init("nora", password: SambaServer.nora.password),
            ],
            unknownUsers: ["zoe", "EXAMPLE\\zoe", "zoe@example.org"],
            faults: server.faults,
            deadline: deadline
        ) { services in
            let words = try SambaSetup.properties(server.tlsURL, LDAPSetup.limitsDuringFaults)
            let made = try LDAPSetup.realm(words, services: services)
            realm.withLock { $0 = made }
            return .forConformance(made, modules: [try made.module()], deadline: deadline)
        }
        conformance.openCalls = { realm.withLock { $0 }?.directory.pool.runningCalls ?? 0 }
        conformance.acceptsOtherSpellings = true
        conformance.usersWithProblems = [.init("mona", password: SambaServer.mona.password)]
        conformance.stored = {
            let admin = SambaServer.admin
            let entry = try await DirectoryTool.run(
                "ldapsearch",
                ["-x", "-LLL", "-H", server.adminURL, "-D", admin.name, "-w", admin.password]
                    + ["-b", SambaServer.mona.name, "-s", "base", "pwdLastSet"]
            )
            try #require(entry.output.contains("pwdLastSet: "), "\(entry.errors)")
            return entry.output
        }
        let report = await conformance.check()
        #expect(report.violations == [])
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import ServerConnections
import TestTools
import Testing

@testable import RealmLDAP

@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct HangTests {
    @Test(arguments: ["ldaps", "ldap", "start-tls"])
    func `a server that accepts connections and never answers ends them at the time limit`(kind: String) async throws {
        let server = try await SlapdServer()
        server.suspend()
        let realm = try LDAPSetup.realm(
            server,
            [
                "directory": [kind == "ldaps" ? server.tlsURL : server.url],
                "start-tls": [kind == "start-tls" ? "true" : "false"], "connect-timeout": ["1s"],
                "bind-timeout": ["1s"], "search-timeout": ["1s"],
            ]
        )
        let start = ContinuousClock.now
        #expect(try await realm.login(SlapdServer.ann).failure == .unavailable)
        let took = start.duration(to: .now)
        #expect(took < .seconds(4), "\(took)")
    }

    @Test func `the logins of one user hold half of the connections`() async throws {
        let server = try await SlapdServer()
        let realm = try LDAPSetup.realm(server, ["pool-size": ["4"], "timeout": ["60s"], "search-timeout": ["60s"]])
        let pool = realm.directory.pool
        #expect(try await realm.login(SlapdServer.ann).failure == nil)
        server.suspend()
        let ann = (0..<3).map { _ in Task { try await realm.login(SlapdServer.ann).failure } }
        try await Waiting.until { pool.runningCalls == 2 && pool.waitingCalls == 1 }
        let ben = Task { try await realm.login(SlapdServer.ben).failure }
        try await Waiting.until { pool.runningCalls == 3 }
        #expect(pool.waitingCalls == 1)
        server.resume()
        for login in ann + [ben] { #expect(try await login.value == nil) }
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
import DirectoryTesting
import RealmKit
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
}
#endif

// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import Testing
import Workers

@testable import RealmLDAP

struct BindTimesTests {
    private static func start(_ milliseconds: UInt64) -> UInt64 { MonotonicTime.now - milliseconds * 1_000_000 }

    @Test func `one of the last 32 times is returned, at most two seconds`() {
        let times = BindTimes()
        #expect(times.sample() == .zero)
        #expect(times.addRefused(since: Self.start(60_000)) == .zero)
        #expect(times.sample() == .seconds(2))
        for _ in 0..<32 { #expect(times.addRefused(since: Self.start(300)) == .zero) }
        let samples = (0..<200).map { _ in times.sample() }
        #expect(samples.allSatisfy { $0 >= .milliseconds(300) && $0 < .seconds(2) })
        #expect(Set(samples).count > 1)
    }

    @Test func `a refusal in much less time than an accepted bind waits, and changes no sample`() {
        let times = BindTimes()
        // Before the first accepted bind it cannot be told from others.
        for _ in 0..<32 { #expect(times.addRefused(since: Self.start(1)) == .zero) }
        times.addAccepted(since: Self.start(300))
        #expect(times.sample() >= .milliseconds(300))
        for _ in 0..<100 {
            let wait = times.addRefused(since: Self.start(10))
            #expect(wait > .milliseconds(250) && wait < .milliseconds(1000))
        }
        #expect(times.sample() >= .milliseconds(300))
        // Those of wrong passwords are the samples.
        #expect(times.addRefused(since: Self.start(500)) == .zero)
        #expect(times.sample() >= .milliseconds(500))
        let wait = times.addRefused(since: Self.start(10))
        #expect(wait > .milliseconds(450), "\(wait)")
    }

    @Test(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
    func `an unknown user waits as long as a wrong password takes`() async throws {
        var settings = SlapdServer.Settings()
        settings.lines = ["password-hash {CRYPT}", "password-crypt-salt-format \"$6$rounds=300000$%.12s\""]
        let server = try await SlapdServer(settings)
        // The default of the server hashes the password again, with many rounds.
        try await server.modify(
            ldif: """
                dn: \(SlapdServer.ann.name)
                changetype: modify
                replace: userPassword
                userPassword: another password

                """
        )
        let realm = try LDAPSetup.realm(server)
        func time(_ name: String, _ failure: LoginFailure) async throws -> Duration {
            let start = ContinuousClock.now
            #expect(try await realm.login(name, "wrong").failure == failure)
            return start.duration(to: .now)
        }
        func median(_ times: [Duration]) -> Duration { times.sorted()[times.count / 2] }
        var wrong: [Duration] = []
        // The policy of the server locks the user after five.
        for _ in 0..<4 { wrong.append(try await time("ann", .wrongCredentials)) }
        var unknown: [Duration] = []
        for _ in 0..<5 { unknown.append(try await time("zoe", .unknownUser)) }
        #expect(median(wrong) > .milliseconds(40), "\(wrong)")
        #expect(median(unknown) >= median(wrong) / 2, "\(unknown) \(wrong)")
        #expect(median(unknown) <= median(wrong) * 4, "\(unknown) \(wrong)")
        // The server has locked carl, so it computes no hash.
        // The bind is accepted: the administrator's password must be changed.
        #expect(try await realm.login("ann", "another password").failure == .credentialExpired)
        var locked: [Duration] = []
        for _ in 0..<5 { locked.append(try await time("carl", .locked)) }
        #expect(median(locked) >= median(wrong) / 2, "\(locked) \(wrong)")
        #expect(median(locked) <= median(wrong) * 4, "\(locked) \(wrong)")
    }

    @Test(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
    func `nobody can make the directory lock the account for searches`() async throws {
        let server = try await SlapdServer()
        let service = SlapdServer.service
        for name in [service.name, service.name.replacing("cn=", with: "CN = ").replacing(",", with: ", ")] {
            let log = LogEntries()
            let realm = try LDAPSetup.realm(
                server,
                ["search-filter": ["(cn=%s)"], "search-bind-dn": [name]],
                log: log
            )
            let binds = server.binds.count
            for password in ["wrong", service.password] {
                let report = try await realm.login(service.uid, password)
                #expect(report.failure == .unknownUser, "\(report.noteTexts)")
                let reason = "is the account of search-bind-dn, which cannot sign in"
                #expect(report.noteTexts.contains { $0.hasSuffix(reason) })
            }
            // That of the realm itself.
            #expect(server.binds.count == binds + 1)
        }
    }

    @Test func `the account for searches is known by its other names in Active Directory`() {
        let entry = LDAPEntry(
            name: "CN=Gate House,CN=Users,DC=example,DC=org",
            attributes: [
                ("samaccountname", [Array("gatehouse".utf8)]),
                ("userprincipalname", [Array("Gatehouse@example.org".utf8)]),
            ]
        )
        let other = LDAPEntry(
            name: "CN=Ann,CN=Users,DC=example,DC=org",
            attributes: [("samaccountname", [Array("ann".utf8)])]
        )
        for name in [
            "gatehouse@example.org", "EXAMPLE\\Gatehouse", "cn=gate house, cn=users, dc=EXAMPLE,dc=org",
        ] {
            let account = ServiceAccount(name)
            #expect(account.isEntry(entry) && !account.isEntry(other), "\(name)")
        }
        let escaped = ServiceAccount("cn=a\\,b,dc=org")
        #expect(escaped.isEntry(LDAPEntry(name: "cn=A\\2Cb,dc=org", attributes: [])))
        #expect(!escaped.isEntry(LDAPEntry(name: "cn=c\\,b,dc=org", attributes: [])))
    }
}
#endif

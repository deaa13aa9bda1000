// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
import DirectoryTesting
import RealmKit
import Testing
import WorkerThreads

@testable import RealmLDAP

struct BindTimesTests {
    @Test func `one of the last 32 times is returned, at most two seconds`() {
        let times = BindTimes()
        #expect(times.sample() == .zero)
        times.add(since: MonotonicTime.now - 60_000_000_000)
        #expect(times.sample() == .seconds(2))
        for _ in 0..<32 { times.add(since: MonotonicTime.now - 300_000_000) }
        let samples = (0..<200).map { _ in times.sample() }
        #expect(samples.allSatisfy { $0 >= .milliseconds(300) && $0 < .seconds(2) })
        #expect(Set(samples).count > 1)
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
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0

#if LDAP
import BuiltInRealms
import DirectoryTesting
import RealmKit
import Synchronization
import TestTools
import Testing

@testable import RealmVerifier

@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct ManyLoginsTests {
    @Test func `1,000 logins at once in four realms, with reloads and a stop in the midst: each is answered once`()
        async throws
    {
        let (folder, slapd, log) = (try ProgramFolder(), try await SlapdServer(), LogLines())
        let checks = Mutex<[String: Int]>([:])
        let verifier = try await RealmVerifier(
            kinds: builtInRealms,
            stateFolder: folder.file("var"),
            settings: "throttle { delay 0s; }",
            logger: log.logger
        ) {
            RealmDefinition("team") { name, password in
                checks.withLock { $0[name, default: 0] += 1 }
                return password.isEqual(to: Secret(utf8: "right")) ? ["Team"] : nil
            }
            RealmDefinition("people", class: "StoreRealm")
            RealmDefinition(
                "directory",
                class: "LDAPRealm",
                [
                    "directory": slapd.url, "base-dn": SlapdServer.base, "search-bind-dn": SlapdServer.service.name,
                    "search-bind-password": SlapdServer.service.password, "group-source": "none", "timeout": "120s",
                    "connect-timeout": "60s", "bind-timeout": "60s", "search-timeout": "60s",
                ]
            )
            RealmDefinition(
                "both",
                class: "StackRealm",
                modules: ["team-password sufficient", "DenyLoginModule required"]
            )
        }
        let running = Task { await verifier.run() }
        // No account has more logins at once than may wait, because further ones are refused.
        let people = [SlapdServer.ann, SlapdServer.ben] + SlapdServer.peopleWithSpecialNames.prefix(3)
        var answers: [String: [String: Int]] = [:]
        await withTaskGroup(of: (realm: String, answer: String).self) { group in
            for number in 0..<1000 {
                let realm = ["team", "people", "directory", "both"][number % 4]
                let person = people[number / 4 % people.count]
                let (name, password) =
                    switch realm {
                    case "directory": (person.uid, person.password)
                    case "people": ("nobody\(number)", "wrong")
                    default: ("member\(number)", "right")
                    }
                group.addTask {
                    // Clients of different networks, so that the limit of one network does not refuse them.
                    let result = await verifier.verify(
                        name,
                        password: Secret(utf8: password),
                        in: [realm],
                        peer: "10.\(number / 250).\(number % 250).1"
                    )
                    switch result {
                    case .accepted: return (realm, "accepted")
                    case .refused: return (realm, "refused")
                    case .unavailable: return (realm, "unavailable")
                    case .questions: return (realm, "questions")
                    }
                }
            }
            group.addTask {
                for _ in 0..<5 { try? await verifier.reload() }
                running.cancel()
                return ("", "")
            }
            for await (realm, answer) in group { answers[realm, default: [:]][answer, default: 0] += 1 }
        }
        answers[""] = nil
        #expect(answers.values.reduce(0) { $0 + $1.values.reduce(0, +) } == 1000)
        #expect(answers["team"] == ["accepted": 250] && answers["both"] == ["accepted": 250], "\(answers)")
        // An overload is no refusal; but nobody is accepted who must not be, and nobody refused who must be accepted.
        #expect(answers["people"]?["accepted"] == nil && answers["directory"]?["refused"] == nil, "\(answers)")
        #expect(checks.withLock { $0.values.allSatisfy { $0 == 1 } && $0.count == 500 })
        await running.value
    }

    @Test func `concurrent guesses at one account lock it once, after ten failures`() async throws {
        let log = LogLines()
        let verifier = try await RealmVerifier(settings: "throttle { delay 0s; }", logger: log.logger) {
            RealmDefinition("team") { _, password in password.isEqual(to: Secret(utf8: "right")) ? [] : nil }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    _ = await verifier.verify("ann", password: Secret(utf8: "\(number)"), peer: "10.0.\(number).1")
                }
            }
            group.addTask { try? await verifier.reload() }
        }
        #expect(log.count(containing: "locked after 10 failures") == 1)
        #expect(await verifier.verify("ann", password: Secret(utf8: "right")).user == nil)
    }
}
#endif

// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import Foundation
import RealmKit
import Testing

@testable import RealmLDAP

/// The time of logins in a directory with 100,000 users and 200 groups on each of five levels.
///
/// The figures depend on the machine and on its load, so the tests run only on request. A release build is measured with
/// `GATEHOUSE_LARGE_DIRECTORY=1 swift test -c release -Xswiftc -enable-testing --filter LargeDirectoryTests`.
@Suite(
    .serialized,
    .enabled(if: LargeDirectory.isWanted, "set GATEHOUSE_LARGE_DIRECTORY=1 to measure"),
    .enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")")
)
struct LargeDirectoryTests {
    @Test(arguments: ["search", "member-of"])
    func `nested groups take at most 1.5 times the time of a login without them`(source: String) async throws {
        let server = try await LargeDirectory.server.value
        for person in [LargeDirectory.member, LargeDirectory.user(5)] {
            let flat = try realm(server, source: source, isNested: false)
            let nested = try realm(server, source: source, isNested: true)
            let count = person.uid == LargeDirectory.member.uid ? LargeDirectory.groups : 2
            // Logins for the connections, and the first one without any group in the cache.
            _ = try await time(flat, person, groups: count)
            _ = try await time(nested, SlapdServer.ben, groups: nil)
            let cold = try await time(nested, person, groups: count * LargeDirectory.levels)
            var times: (flat: [Duration], nested: [Duration]) = ([], [])
            for _ in 0..<300 {
                times.flat.append(try await time(flat, person, groups: count))
                times.nested.append(try await time(nested, person, groups: count * LargeDirectory.levels))
            }
            let (flatTime, nestedTime) = (Self.median(times.flat), Self.median(times.nested))
            let ratio = nestedTime / flatTime
            print(
                "\(source), \(count) groups of a user: flat \(flatTime), nested \(nestedTime) (\(ratio) times), "
                    + "with an empty cache \(cold)"
            )
            #expect(ratio <= 1.5)
        }
    }

    private func realm(_ server: SlapdServer, source: String, isNested: Bool) throws -> LDAPRealm {
        try LDAPSetup.realm(
            server,
            [
                "nested-groups": [isNested ? "true" : "false"], "group-source": [source], "pool-size": ["1"],
                "group-cache-time": ["10m"], "timeout": ["60s"],
            ]
        )
    }

    private func time(_ realm: LDAPRealm, _ person: Person, groups: Int?) async throws -> Duration {
        let start = ContinuousClock.now
        let report = try await realm.login(person)
        let time = start.duration(to: .now)
        #expect(report.failure == nil, "\(report.noteTexts)")
        if let groups { #expect(report.identity?.subject.groups.count == groups) }
        return time
    }

    private static func median(_ times: [Duration]) -> Duration { times.sorted()[times.count / 2] }
}

/// The directory of ``LargeDirectoryTests``.
private enum LargeDirectory {
    static let isWanted = ProcessInfo.processInfo.environment["GATEHOUSE_LARGE_DIRECTORY"] != nil
    static let users = 100_000
    static let groups = 200
    static let levels = 5

    /// A user in all groups of the first level.
    static let member = user(0)

    static let server = Task {
        var settings = SlapdServer.Settings()
        settings.entries = ldif
        settings.maximumSize = 2 << 30
        settings.databaseLines = ["limits dn.exact=\"\(SlapdServer.service.name)\" size=unlimited"]
        return try await SlapdServer(settings)
    }

    static func user(_ number: Int) -> Person {
        Person(uid: "user\(number)", name: "uid=user\(number),\(SlapdServer.people)", password: "password \(number)")
    }

    private static func group(_ level: Int, _ number: Int) -> String { SlapdServer.group("large\(level)-\(number)") }

    /// Returns the groups of the first level that a user is in.
    private static func groups(of number: Int) -> [Int] {
        number == 0 ? Array(0..<groups) : Array(Set([number % groups, number / groups % groups, 7]).sorted().prefix(2))
    }

    private static var ldif: String {
        var text = ""
        var members = [[Int]](repeating: [], count: groups)
        for number in 0..<users {
            let person = user(number)
            var attributes = [
                ("objectClass", "inetOrgPerson"), ("uid", person.uid), ("cn", person.uid), ("sn", "Example"),
                ("userPassword", person.password),
            ]
            for group in groups(of: number) {
                members[group].append(number)
                attributes.append(("memberOf", self.group(1, group)))
            }
            text += Entry(person.name, attributes).ldif
        }
        for level in 1...levels {
            for number in 0..<groups {
                var attributes = [("objectClass", "groupOfNames"), ("cn", "large\(level)-\(number)")]
                if level == 1 {
                    attributes += members[number].map { ("member", user($0).name) }
                } else {
                    attributes.append(("member", group(level - 1, number)))
                }
                if level < levels { attributes.append(("memberOf", group(level + 1, number))) }
                text += Entry(group(level, number), attributes).ldif
            }
        }
        return text
    }
}
#endif

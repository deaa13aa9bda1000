// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import ServerConnections
import Testing
import Workers

@testable import RealmLDAP

/// Searches that are sent without waiting for the answers to those before them.
@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct SeveralSearchesTests {
    private static let attributes = ["uid", "cn"]

    private let server: SlapdServer

    init() async throws { server = try await SlapdServer() }

    /// Returns searches for the entries of all people, several times.
    private static func searches(times: Int = 1) -> [LDAPSearch] {
        (0..<times).flatMap { _ in
            SlapdServer.allPeople.map { LDAPSearch.entry($0.name, attributes: attributes) }
        }
    }

    /// Searches on one connection, and returns the values of `uid` by the number of the search; nil if there is a limit.
    private func found(
        _ connection: LDAPConnection,
        _ searches: [LDAPSearch]
    ) throws(ServerFault) -> [(number: Int, users: [String]?)] {
        var found: [(number: Int, users: [String]?)] = []
        try connection.search(each: searches) { number, entries throws(ServerFault) in
            found.append((number, entries?.flatMap { $0.texts(of: "uid") }))
        }
        return found
    }

    @Test func `each answer belongs to its search, in their order`() async throws {
        let realm = try LDAPSetup.realm(server)
        let searches = Self.searches(times: 10)
        #expect(searches.count > 100)
        let found = try await realm.directory.pool.run(for: JobOwner(source: "test", account: nil)) {
            connection,
            call throws(ServerFault) in
            connection.begin(call)
            return try self.found(connection, searches)
        }
        let people = (0..<10).flatMap { _ in SlapdServer.allPeople.map(\.uid) }
        #expect(found.map(\.number) == Array(searches.indices))
        #expect(found.map(\.users) == people.map { [$0] })
        let none = try await realm.directory.pool.run(for: JobOwner(source: "test", account: nil)) {
            connection,
            call throws(ServerFault) in
            connection.begin(call)
            return try self.found(connection, [])
        }
        #expect(none.isEmpty)
    }

    @Test func `a search that fails, and a fault of the caller, leave no answer on the connection`() async throws {
        let realm = try LDAPSetup.realm(server)
        try await realm.directory.pool.run(for: JobOwner(source: "test", account: nil)) {
            connection,
            call throws(ServerFault) in
            connection.begin(call)
            let missing = LDAPSearch.entry("cn=nobody,\(SlapdServer.people)", attributes: Self.attributes)
            let malformed = LDAPSearch(base: SlapdServer.people, filter: "(uid=", attributes: Self.attributes)
            for bad in [missing, malformed] {
                for place in [0, 1, 20, Self.searches(times: 5).count] {
                    var searches = Self.searches(times: 5)
                    searches.insert(bad, at: place)
                    var numbers: [Int] = []
                    #expect(throws: ServerFault.self) {
                        try connection.search(each: searches) { number, _ in numbers.append(number) }
                    }
                    #expect(numbers.count <= place && numbers == Array(0..<numbers.count))
                    #expect(connection.isUsable)
                }
            }
            var count = 0
            do throws(ServerFault) {
                try connection.search(each: Self.searches(times: 5)) { _, _ throws(ServerFault) in
                    count += 1
                    if count == 3 { throw ServerFault(.failed, "enough") }
                }
                Issue.record("the fault of the caller is lost")
            } catch {
                #expect(error.log == "enough" && count == 3)
            }
            #expect(connection.isUsable)
            // The next answers are those of the next searches.
            let next = try self.found(connection, Self.searches())
            #expect(next.map(\.users) == SlapdServer.allPeople.map { [$0.uid] })
        }
    }

    @Test func `the caller may search between the answers`() async throws {
        let realm = try LDAPSetup.realm(server)
        let people = try await realm.directory.pool.run(for: JobOwner(source: "test", account: nil)) {
            connection,
            call throws(ServerFault) in
            connection.begin(call)
            var people: [String] = []
            try connection.search(each: Self.searches()) { _, entries throws(ServerFault) in
                let other = try connection.search(Self.ben)
                people += (other + (entries ?? [])).flatMap { $0.texts(of: "uid") }
            }
            return people
        }
        #expect(people == SlapdServer.allPeople.flatMap { ["ben", $0.uid] })
    }

    private static let ben = LDAPSearch.entry(SlapdServer.ben.name, attributes: attributes)

    @Test(arguments: ["size.soft=2 size.hard=2", "size.soft=2 size.hard=soft", "size.soft=2 size.hard=5"])
    func `groups of groups are found in pages if the server returns fewer at once`(limit: String) async throws {
        var settings = SlapdServer.Settings()
        settings.databaseLines = ["limits dn.exact=\"\(SlapdServer.service.name)\" \(limit) size.prtotal=unlimited"]
        // The group level1 of the user is in seven others, of which one is in another one.
        let parents = (0..<7).map { "parent\($0)" }
        settings.entries = (parents.map { ($0, "level1") } + [("top", "parent3")]).map { name, member in
            Entry(
                SlapdServer.group(name),
                [("objectClass", "groupOfNames"), ("cn", name), ("member", SlapdServer.group(member))]
            ).ldif
        }.joined()
        let server = try await SlapdServer(settings)
        let realm = try LDAPSetup.realm(server, ["nested-groups": ["true"]])
        let report = try await realm.login(SlapdServer.ann)
        #expect(
            report.identity?.subject.groups.sorted()
                == ["comma, group", "level1", "level2", "level3"] + parents + ["staff", "top"],
            "\(report.noteTexts)"
        )
        #expect(server.searches.count { $0.filter == "(member=\(SlapdServer.group("level1")))" } == 2)
        let low = try LDAPSetup.realm(server, ["nested-groups": ["true"], "maximum-groups": ["9"]])
        #expect(try await low.login(SlapdServer.ann).failure == .unavailable)
    }
}
#endif

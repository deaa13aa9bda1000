// SPDX-License-Identifier: Apache-2.0

#if LDAP
import RealmKit
import TestTools
import Testing

@testable import RealmLDAP

/// The costs of entries that users may be able to make large, and of the answers of a whole login.
struct LargeAnswerTests {
    private static let ann = "uid=ann,ou=people,dc=example,dc=org"

    /// A server with some users, all with the password `right`.
    private static func server(
        _ entries: @escaping @Sendable (FakeDirectory.Request) -> [UInt8]
    ) throws -> FakeDirectory {
        try FakeDirectory { request in
            switch request.operation {
            case .bind:
                let passwords = ["right", "service"].map { Array($0.utf8) }
                let isRight = passwords.contains { request.content.suffix($0.count).elementsEqual($0) }
                return [.send(BER.result(request.number, 0x61, code: isRight ? 0 : 49))]
            case .search: return [.send(entries(request) + BER.result(request.number, 0x65))]
            case .unbind: return [.close]
            case .extended: return [.send(BER.result(request.number, 0x78, code: 2))]
            }
        }
    }

    private static func entry(_ request: FakeDirectory.Request, _ more: [(String, [String])]) -> [UInt8] {
        BER.entry(request.number, ann, [("uid", ["ann"])] + more)
    }

    private func realm(
        _ servers: [FakeDirectory],
        _ changes: [String: [String]?] = [:],
        log: LogEntries = LogEntries()
    ) throws -> LDAPRealm {
        let words = changes.merging(["timeout": ["120s"]]) { changed, _ in changed }
        return try LDAPSetup.realm(servers, limit: "60s", words, log: log)
    }

    private static func tagged(_ count: Int) -> [(String, [String])] { (0..<count).map { ("mail;x-\($0)", ["a"]) } }

    @Test func `an entry with thousands of attributes costs the time to receive it, and is refused`() async throws {
        let small = try Self.server { Self.entry($0, Self.tagged(900) + [("mail", ["ann@example.org"])]) }
        let report = try await realm([small]).login("ann", "right")
        #expect(report.identity?.subject.attributes.values(of: "mail") == ["ann@example.org"], "\(report.noteTexts)")
        let tags = Self.tagged(60_000)
        let large = try Self.server { Self.entry($0, tags) }
        let log = LogEntries()
        let refusing = try realm([large], log: log)
        let start = ContinuousClock.now
        for password in ["right", "wrong"] {
            #expect(try await refusing.login("ann", password).failure == .unknownUser)
        }
        // Looking for each attribute from the beginning of the entry takes minutes.
        #expect(start.duration(to: .now) < .seconds(20))
        #expect(log.contains("\(Self.ann): the entry has too many attributes or values; the user is refused"))
    }

    @Test func `an entry may have 1000 attributes, and no more`() async throws {
        // The name is one of them.
        for (count, failure) in [(999, nil), (1000, .unknownUser)] as [(Int, LoginFailure?)] {
            let server = try Self.server { Self.entry($0, Self.tagged(count)) }
            #expect(try await realm([server]).login("ann", "right").failure == failure, "\(count)")
            #expect(!server.requests.isEmpty)
        }
    }

    @Test func `an entry with too many values is refused, and one with as many groups as allowed is not`() async throws
    {
        func failure(_ attribute: String, _ count: Int) async throws -> LoginFailure? {
            let values = (0..<count).map { "cn=g\($0),dc=example,dc=org" }
            let server = try Self.server { Self.entry($0, [(attribute, values)]) }
            let groups: [String: [String]?] = ["group-source": ["member-of"], "maximum-groups": ["3000"]]
            return try await realm([server], groups).login("ann", "right").failure
        }
        #expect(try await failure("mail", 1000) == nil)
        #expect(try await failure("mail", 1001) == .unknownUser)
        #expect(try await failure("uid", 1001) == .unknownUser)
        #expect(try await failure("memberOf", 3000) == nil)
        #expect(try await failure("memberOf", 3001) == .unavailable)
    }

    @Test func `long values cost no more than their bytes`() async throws {
        let marks = String(repeating: "\u{301}\u{327}", count: 500_000)
        let server = try Self.server { Self.entry($0, [("uid", [marks, marks + "x"]), ("mail", [marks])]) }
        let start = ContinuousClock.now
        #expect(try await realm([server]).login("ann", "right").failure == nil)
        #expect(start.duration(to: .now) < .seconds(20))
    }

    @Test func `the entries of one login have a maximum in all, over all searches and pages`() async throws {
        let text = String(repeating: "x", count: 10 << 20)
        let server = try Self.server { request in
            guard !request.content.contains(Array("member".utf8)) else {
                let group = BER.entry(request.number, "cn=a,dc=example,dc=org", [("cn", ["a"]), ("info", [text])])
                return (0..<7).flatMap { _ in group }
            }
            return Self.entry(request, [])
        }
        let log = LogEntries()
        let groups: [String: [String]?] = ["group-source": ["search"], "group-search-filter": ["member=%d"]]
        let realm = try realm([server], groups, log: log)
        for _ in 0..<2 { #expect(try await realm.login("ann", "right").failure == .unavailable) }
        #expect(log.contains("entries of more than 64 MiB for one login"), "\(log.all)")
        // A login that receives less may follow on the same connections.
        #expect(try await realm.login("ann", "wrong").failure == .wrongCredentials)
    }

    @Test func `a user whose entry is too large to receive is no outage for others, nor for a namesake`() async throws {
        let text = String(repeating: "x", count: 17 << 20)
        let server = try Self.server { request in
            let names = ["eve", "ben", "ann"].filter { request.content.contains(Array($0.utf8)) }
            guard let name = names.first else { return [] }
            let own = BER.entry(request.number, "uid=\(name),dc=example,dc=org", [("uid", [name])])
            // Eve has written the name of ann into her mail, and so much text that no answer with her entry is read.
            let isPrecise = request.content.contains(0xA0)
            guard name == "eve" || name == "ann" && !isPrecise else { return own }
            return own + BER.entry(request.number, "uid=eve,dc=example,dc=org", [("mail", [text])])
        }
        let second = try Self.server { Self.entry($0, []) }
        let log = LogEntries()
        let realm = try realm([server, second], ["search-filter": ["(|(uid=%s)(mail=%s))"]], log: log)
        for _ in 0..<2 {
            #expect(try await realm.login("eve", "right").failure == .unavailable)
            #expect(try await realm.login("ben", "right").failure == nil)
            #expect(try await realm.login("ann", "right").failure == nil, "\(log.all)")
        }
        #expect(second.requests.isEmpty)
        #expect(log.contains("a search has failed: the server has sent a message of more than 16 MiB"), "\(log.all)")
    }
}
#endif

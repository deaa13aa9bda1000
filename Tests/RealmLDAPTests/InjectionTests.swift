// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import Foundation
import RealmKit
import SeededRandom
import ServerConnections
import Testing

@testable import RealmLDAP

/// The requests that slapd has read from logins with hostile names.
///
/// The filters use an attribute with any bytes as its values; slapd changes the values of others before it logs them.
@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct InjectionTests {
    /// The number of texts for one server, whose log is read at once.
    private static let batch = 10_000

    /// Runs a test with texts in batches, each with a server of its own.
    private func check(
        _ standard: Int,
        seed: UInt64,
        _ next: (inout Random) -> String,
        _ body: (SlapdServer, [String]) async throws -> Void
    ) async throws {
        var random = Random(seed: seed)
        var left = HostileText.count(standard)
        while left > 0 {
            let texts = (0..<min(left, Self.batch)).map { _ in next(&random) }
            try await body(try await SlapdServer(), texts)
            left -= texts.count
        }
    }

    /// Makes calls on eight connections at the same time.
    private func forEach(
        _ texts: [String],
        _ body: @escaping @Sendable (String) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup { group in
            for part in 0..<8 {
                group.addTask {
                    for index in stride(from: part, to: texts.count, by: 8) { try await body(texts[index]) }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Returns the number of times that each value occurs.
    private func counts(_ values: [[UInt8]]) -> [[UInt8]: Int] { values.reduce(into: [:]) { $0[$1, default: 0] += 1 } }

    /// Compares the values that a server has read with the texts.
    private func expect(_ values: [[UInt8]?], are texts: [String]) throws {
        #expect(values.count == texts.count)
        let read = counts(try values.map { try #require($0) })
        let sent = counts(texts.map { Array($0.utf8) })
        guard read != sent else { return }
        let missing = sent.filter { read[$0.key] != $0.value }.keys.prefix(3).map {
            String(decoding: $0, as: UTF8.self)
        }
        Issue.record("not received as sent: \(missing.map(\.debugDescription))")
    }

    /// Returns the part of a text between two others; nil if it does not begin and end with them.
    private func inner(_ text: String, _ start: String, _ end: String) -> Substring.UTF8View? {
        guard text.utf8.starts(with: start.utf8), text.utf8.count >= start.utf8.count + end.utf8.count,
            text.utf8.suffix(end.utf8.count).elementsEqual(end.utf8)
        else { return nil }
        return text[...].utf8.dropFirst(start.utf8.count).dropLast(end.utf8.count)
    }

    private func authenticate(_ name: String, in realm: LDAPRealm) async throws -> DirectoryAnswer {
        let typed = TypedName(user: name, full: name)
        return try await realm.directory.run(for: typed, source: "test") { login throws(ServerFault) in
            try login.authenticate(typed, password: Secret(utf8: "password"))
        }
    }

    @Test func `slapd reads a search filter as a comparison with exactly the user name`() async throws {
        try await check(5_000, seed: 17, HostileText.next) { server, texts in
            let realm = try LDAPSetup.realm(server, ["search-filter": ["(userPassword=%s)"]])
            try await forEach(texts) { text in
                let answer = try await authenticate(text, in: realm)
                guard case .refused(let problem) = answer, problem.failure == .unknownUser else {
                    Issue.record("\(text.debugDescription): \(answer)")
                    return
                }
            }
            let searches = ServerLog(server).searches
            let values = searches.map { search -> [UInt8]? in
                guard search.base == SlapdServer.base, search.scope == 2 else { return nil }
                return inner(search.filter, "(userPassword=", ")").flatMap(Decoded.filterValue)
            }
            try expect(values, are: texts)
            #expect(server.binds.allSatisfy { $0 == SlapdServer.service.name })
        }
    }

    @Test func `slapd reads a filter of groups with exactly the distinguished name and the user name`() async throws {
        try await check(3_000, seed: 18, HostileText.next) { server, all in
            // The name is that of an entry, and is checked before the groups are searched.
            let texts = all.filter { (try? Username($0)) != nil }
            let filter = "(|(userPassword=%d)(&(objectClass=device)(userPassword=%s)))"
            let realm = try LDAPSetup.realm(server, ["group-search-filter": [filter]])
            let settings = realm.directory.settings
            try await forEach(texts) { text in
                let name = "cn=\(text),\(SlapdServer.people)"
                let entry = LDAPEntry(name: name, attributes: [("uid", [Array(text.utf8)])])
                let user = try UserEntry(entry, typed: nil, settings: settings)
                let groups = try await realm.directory.run(for: nil, source: "test") { login throws(ServerFault) in
                    try login.groups(of: user)
                }
                #expect(groups == [])
            }
            let middle = ")(&(objectClass=device)(userPassword="
            let values = ServerLog(server).searches.map { search -> [UInt8]? in
                guard search.base == SlapdServer.groups, let inner = inner(search.filter, "(|(userPassword=", ")))"),
                    let range = Substring(inner).utf8.firstRange(of: middle.utf8),
                    let name = Decoded.filterValue(Substring(inner)[..<range.lowerBound].utf8),
                    let user = Decoded.filterValue(Substring(inner)[range.upperBound...].utf8),
                    name == Array("cn=".utf8) + user + Array(",\(SlapdServer.people)".utf8)
                else { return nil }
                return user
            }
            try expect(values, are: texts)
        }
    }

    @Test func `slapd reads the name of a direct bind as one with exactly the user name`() async throws {
        try await check(3_000, seed: 19, HostileText.nextPrintable) { server, texts in
            let realm = try LDAPSetup.realm(
                server,
                [
                    "search-bind-dn": nil, "search-bind-password": nil, "group-source": ["none"],
                    "user-dn-pattern": ["uid=%s,\(SlapdServer.people)"],
                ]
            )
            try await forEach(texts) { text in
                let answer = try await authenticate(text, in: realm)
                guard case .refused(let problem) = answer, problem.failure == .wrongCredentials else {
                    Issue.record("\(text.debugDescription): \(answer)")
                    return
                }
            }
            let values = ServerLog(server).binds.map { name in
                inner(name, "uid=", ",\(SlapdServer.people)").flatMap(Decoded.nameValue)
            }
            try expect(values, are: texts)
        }
    }

    @Test func `the name of a direct bind has exactly the user name as its first value, and other texts give none`()
        throws
    {
        let pattern = try DNPattern("uid=%s,\(SlapdServer.people)")
        let rest = try #require(DistinguishedName(SlapdServer.people)).names
        var random = Random(seed: 20)
        for _ in 0..<HostileText.count(3_000) {
            let text = HostileText.next(&random)
            let name = pattern.bindName(text)
            #expect((name == nil) == ((try? Username(text)) == nil), "\(text.debugDescription)")
            guard let name else { continue }
            let read = try #require(DistinguishedName(name), "\(text.debugDescription)").names
            let first = DistinguishedName.Part(attribute: "uid", value: Array(text.utf8))
            #expect(read == [[first]] + rest, "\(text.debugDescription)")
        }
    }
}

/// The requests in a log of slapd, read faster than with regular expressions.
private struct ServerLog {
    private(set) var searches: [(base: String, scope: Int, filter: String)] = []
    private(set) var binds: [String] = []

    init(_ server: SlapdServer) {
        let log = FileManager.default.contents(atPath: server.folder.file("log")) ?? Data()
        for line in log.split(separator: UInt8(ascii: "\n")) {
            // The line begins with the time, the thread and the connection.
            guard let mark = line.firstRange(of: Data(" op=".utf8)) else { continue }
            let text = String(decoding: line[mark.upperBound...], as: UTF8.self)
            let words = text.utf8.split(separator: UInt8(ascii: " "), maxSplits: 2).compactMap(Substring.init)
            guard words.count == 3 else { continue }
            if words[1] == "SRCH", let search = Self.search(words[2]) { searches.append(search) }
            if words[1] == "BIND", let end = words[2].utf8.lastRange(of: "\" method="), words[2].hasPrefix("dn=\"") {
                binds.append(String(words[2].dropFirst(4)[..<end]))
            }
        }
    }

    private static func search(_ text: Substring) -> (base: String, scope: Int, filter: String)? {
        guard text.hasPrefix("base=\""), let scope = text.utf8.firstRange(of: "\" scope=".utf8),
            let filter = text.utf8.firstRange(of: " filter=\"".utf8), text.utf8.last == UInt8(ascii: "\"")
        else { return nil }
        return (
            String(text[..<scope.lowerBound].dropFirst(6)), Int(String(text[scope.upperBound...].prefix(1))) ?? -1,
            String(text[filter.upperBound...].dropLast())
        )
    }
}

extension Substring.UTF8View {
    /// Returns the start of the last occurrence of a text.
    fileprivate func lastRange(of text: String) -> Index? {
        var found: Index?
        var place = startIndex
        while let range = self[place...].firstRange(of: text.utf8) {
            found = range.lowerBound
            place = range.upperBound
        }
        return found
    }
}
#endif

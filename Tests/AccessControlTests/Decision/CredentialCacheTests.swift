// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Bytes
import Foundation
import OpenSSLKit
import RealmConfiguration
import RealmKit
import Testing

@testable import AccessControl

@Suite struct CredentialCacheTests {
    private func credentials(_ name: String, _ password: String) throws -> BasicScheme.Credentials {
        let token = Data("\(name):\(password)".utf8).base64EncodedString()
        guard case .credentials(let credentials) = BasicScheme.read([UTF8Text("Basic \(token)")]) else {
            throw OpenSSLKitError.none
        }
        return credentials
    }

    private enum OpenSSLKitError: Error { case none }

    /// A user whom a realm has accepted.
    private func identity(_ name: String, realm: String = "any") async throws -> AuthenticatedIdentity {
        let text = """
            login permit { PermitLoginModule required; }
            realm any   { class StackRealm; jaas-context permit; }
            realm other { class StackRealm; jaas-context permit; }
            """
        let files = ConfigurationFiles(
            read: { _ in .success(Array(text.utf8)) },
            environment: { _ in nil }
        )
        let configuration = try ConfigurationLoader(builtInRealms, files: files, clock: SystemClock()).load(
            "realms.conf"
        )
        let report = try await configuration.authenticator.login(
            LoginRequest(realm: realm, username: Username(name), service: "test", peer: nil),
            asking: PreparedConversation(name: name, password: Secret(utf8: "x"))
        )
        guard case .accepted(let identity) = report.decision else { throw OpenSSLKitError.none }
        return identity
    }

    private func known(_ identity: AuthenticatedIdentity, from peer: String? = nil) -> CredentialCache.Client {
        CredentialCache.Client(
            account: Account(realm: identity.realm, key: identity.username.text),
            username: identity.username,
            network: peer.map { ClientNetwork($0) }
        )
    }

    @Test func `the lifetime of a cached credential begins with the login and is not extended by use`() async throws {
        let verified = try CredentialCache(lifetime: 100)
        let key = try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", "x")))
        let zed = try await identity("zed")
        #expect(verified.entry(for: key, at: 0) == nil)
        verified.add(zed, for: key, of: known(zed), at: 50)
        for now in UInt64(50)..<150 { #expect(verified.entry(for: key, at: now)?.user.username == zed.username) }
        #expect(verified.entry(for: key, at: 150) == nil)
        #expect(verified.entry(for: key, at: .max) == nil)
    }

    @Test(arguments: [(UInt64(30), UInt64(80)), (100, 150), (.max, 150)])
    func `a cached credential ends with the client certificate of its login`(left: UInt64, end: UInt64) async throws {
        let verified = try CredentialCache(lifetime: 100)
        let key = try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", "x")))
        let zed = try await identity("zed")
        verified.add(zed, for: key, of: known(zed), at: 50, atMost: left)
        #expect(verified.entry(for: key, at: end - 1) != nil)
        #expect(verified.entry(for: key, at: end) == nil)
    }

    @Test func `if the lifetime is 0, no credentials are cached`() throws {
        #expect(
            try CredentialCache(lifetime: 0).key(realms: ["any"], peer: nil, credentials: credentials("zed", "x"))
                == nil
        )
    }

    @Test func `CVE-2026-71326: different realms, names or passwords never have the same cache key`() throws {
        let verified = try CredentialCache(lifetime: 100)
        let triples = [
            ("any", "zed", "x"), ("an", "yzed", "x"), ("anyz", "ed", "x"), ("any", "zedx", ""), ("any", "ze", "dx"),
            ("any", "zed", "X"), ("any", "Zed", "x"), ("Any", "zed", "x"), ("", "anyzed", "x"), ("any", "zed", ""),
            ("any", "zed", "x "), ("any", "zed", "x:"), ("any", "zed", "x:x"), ("anyzedx", "a", ""),
            ("any", "e\u{301}", "x"),
            ("any", "\u{E9}", "x"), ("any", "z", "edx"), ("any:zed", "x", "x"),
        ]
        let keys = try triples.map {
            try #require(verified.key(realms: [$0.0], peer: nil, credentials: credentials($0.1, $0.2)))
        }
        #expect(Set(keys).count == triples.count)
        // The same input has the same key in the same cache, but a different key in another cache.
        #expect(try verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", "x")) == keys[0])
        #expect(
            try CredentialCache(lifetime: 100).key(realms: ["any"], peer: nil, credentials: credentials("zed", "x"))
                != keys[0]
        )
    }

    @Test func `a full cache evicts the oldest entry`() async throws {
        let verified = try CredentialCache(lifetime: 1_000_000, capacity: 8)
        let zed = try await identity("zed")
        let keys = try (0..<50).map {
            try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", "\($0)")))
        }
        for (index, key) in keys.enumerated() {
            verified.add(zed, for: key, of: known(zed), at: UInt64(index))
            let known = keys.filter { verified.entry(for: $0, at: UInt64(index)) != nil }
            #expect(known == Array(keys[max(0, index - 7)...index]))
        }
    }

    @Test func `a repeated login makes its entry the newest entry`() async throws {
        let verified = try CredentialCache(lifetime: 10, capacity: 2)
        let zed = try await identity("zed")
        let keys = try (0..<3).map {
            try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", "\($0)")))
        }
        verified.add(zed, for: keys[0], of: known(zed), at: 0)
        verified.add(zed, for: keys[1], of: known(zed), at: 5)
        // Two concurrent requests with the same credentials both log in.
        verified.add(zed, for: keys[0], of: known(zed), at: 6)
        verified.add(zed, for: keys[2], of: known(zed), at: 7)
        #expect(verified.entry(for: keys[0], at: 8) != nil)
        #expect(verified.entry(for: keys[1], at: 8) == nil)
        #expect(verified.entry(for: keys[2], at: 8) != nil)
    }

    @Test func `a revocation of all entries also applies to running logins`() async throws {
        let verified = try CredentialCache(lifetime: 100)
        let zed = try await identity("zed")
        let key = try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", "x")))
        let inProgress = try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", "y")))
        verified.add(zed, for: key, of: known(zed), at: 0)
        verified.evict { _ in true }
        verified.add(zed, for: inProgress, of: known(zed), at: 1)
        for password in ["x", "y"] {
            let anew = try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", password)))
            #expect(verified.entry(for: anew, at: 1) == nil)
        }
        #expect(verified.entry(for: key, at: 1) == nil)
        let anew = try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", "x")))
        verified.add(zed, for: anew, of: known(zed), at: 2)
        #expect(verified.entry(for: anew, at: 3) != nil)
    }

    @Test func `a revocation of a user also applies to running logins of this user, but not to other users`()
        async throws
    {
        let verified = try CredentialCache(lifetime: 100)
        let (zed, zoe) = (try await identity("zed"), try await identity("zoe"))
        let elsewhere = try await identity("zed", realm: "other")
        func key(_ name: String, _ password: String, _ realm: String = "any") throws -> CredentialCache.Key {
            try #require(verified.key(realms: [realm], peer: nil, credentials: credentials(name, password)))
        }
        verified.add(zed, for: try key("zed", "x"), of: known(zed), at: 0)
        verified.add(zoe, for: try key("zoe", "x"), of: known(zoe), at: 0)
        verified.add(elsewhere, for: try key("zed", "x", "other"), of: known(elsewhere), at: 0)
        let inProgress = try key("zed", "y")
        verified.evict { $0.account.realm == "any" && $0.username == zed.username }
        verified.add(zed, for: inProgress, of: known(zed), at: 1)
        #expect(verified.entry(for: try key("zed", "x"), at: 1) == nil)
        #expect(verified.entry(for: try key("zed", "y"), at: 1) == nil)
        #expect(verified.entry(for: try key("zoe", "x"), at: 1) != nil)
        #expect(verified.entry(for: try key("zed", "x", "other"), at: 1) != nil)
    }

    @Test func `a user who logs in again after a revocation does not evict other users`() async throws {
        let verified = try CredentialCache(lifetime: 1000, capacity: 2)
        let zed = try await identity("zed")
        func key(_ password: String) throws -> CredentialCache.Key {
            try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", password)))
        }
        verified.add(zed, for: try key("a"), of: known(zed), at: 0)
        verified.evict { $0.account.realm == "any" && $0.username == zed.username }
        verified.add(zed, for: try key("b"), of: known(zed), at: 1)
        verified.add(zed, for: try key("a"), of: known(zed), at: 2)
        verified.add(zed, for: try key("c"), of: known(zed), at: 3)
        #expect(verified.entry(for: try key("a"), at: 4) != nil)
        #expect(verified.entry(for: try key("b"), at: 4) == nil)
    }

    @Test func `no description of the cache contains a name or a password`() async throws {
        let verified = try CredentialCache(lifetime: 100)
        let credentials = try credentials("unusualname", "hunter2secret")
        let key = try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials))
        let zed = try await identity("zed")
        verified.add(zed, for: key, of: known(zed), at: 0)
        for value in [credentials, key, verified, verified.entry(for: key, at: 1) as Any] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("hunter2"))
                #expect(!text.contains("unusualname"))
                #expect(!text.contains("104, 117, 110, 116, 101, 114"))
            }
        }
    }

    @Test func `different lists of realms have different keys, however long they are`() throws {
        let cache = try CredentialCache(lifetime: 100)
        let long = (0..<1000).map { "realm \($0)" }
        let lists = [
            [], [""], ["", ""], ["a"], ["a", "b"], ["b", "a"], ["ab"], ["caf\u{E9}"], ["cafe\u{301}"], long,
            long.reversed(),
            long.dropLast(), [String(repeating: "x", count: 300)], [String(repeating: "x", count: 301)],
        ]
        var keys: Set<CredentialCache.Key> = []
        for list in lists {
            for choice in [WhenUnavailable.continue, .stop] {
                func key() throws -> CredentialCache.Key {
                    let password = CredentialCache.Credentials.password(try credentials("zed", "x"))
                    return try #require(
                        cache.key(realms: Array(list), whenUnavailable: choice, peer: nil, credentials: password)
                    )
                }
                keys.insert(try key())
                #expect(try keys.contains(key()))
            }
        }
        #expect(keys.count == lists.count * 2)
    }

    @Test func `credentials cached for one address are not used for another`() async throws {
        let verified = try CredentialCache(lifetime: 100)
        let zed = try await identity("zed")
        let here = try #require(verified.key(realms: ["any"], peer: "192.0.2.1", credentials: credentials("zed", "x")))
        verified.add(zed, for: here, of: known(zed, from: "192.0.2.1"), at: 0)
        #expect(verified.entry(for: here, at: 1) != nil)
        for peer in ["192.0.2.2", nil] {
            #expect(
                verified.entry(
                    for: try #require(verified.key(realms: ["any"], peer: peer, credentials: credentials("zed", "x"))),
                    at: 1
                )
                    == nil
            )
        }
        verified.evict { $0.network == ClientNetwork("192.0.2.2") }
        #expect(verified.entry(for: here, at: 1) != nil)
        verified.evict { $0.network == ClientNetwork("192.0.2.1") }
        #expect(verified.entry(for: here, at: 1) == nil)
    }

    @Test
    func `revocations of other accounts prevent caching only if the log has removed revocations since the login began`()
        async throws
    {
        let verified = try CredentialCache(lifetime: 100)
        let (zed, zoe) = (try await identity("zed"), try await identity("zoe"))
        let zedKey = try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", "x")))
        let zoeKey = try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zoe", "x")))
        for number in 0..<900 { verified.evict { $0.account.key == "invented \(number)" } }
        verified.evict { $0.account.key == "zoe" }
        verified.add(zed, for: zedKey, of: known(zed), at: 1)
        verified.add(zoe, for: zoeKey, of: known(zoe), at: 1)
        #expect(verified.entry(for: zedKey, at: 2) != nil)
        #expect(verified.entry(for: zoeKey, at: 2) == nil)
        // The log has removed a revocation, so the running login is not cached. The next login is cached.
        let late = try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", "y")))
        for number in 0..<1100 { verified.evict { $0.account.key == "invented \(number)" } }
        verified.add(zed, for: late, of: known(zed), at: 3)
        #expect(verified.entry(for: late, at: 4) == nil)
        let next = try #require(verified.key(realms: ["any"], peer: nil, credentials: credentials("zed", "y")))
        verified.add(zed, for: next, of: known(zed), at: 5)
        #expect(verified.entry(for: next, at: 6) != nil)
    }
}

extension CredentialCache {
    /// Returns the key of a name and a password on a connection without a certificate.
    fileprivate func key(realms: [String], peer: String?, credentials: BasicScheme.Credentials) -> Key? {
        key(realms: realms, peer: peer, certificate: nil, credentials: .password(credentials))
    }
}

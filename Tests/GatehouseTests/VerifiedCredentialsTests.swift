// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import BuiltInRealms
import Foundation
import OpenSSLKit
import RealmConfiguration
import RealmKit
import Testing

@testable import Gatehouse

@Suite struct VerifiedCredentialsTests {
    private func credentials(_ name: String, _ password: String) throws -> BasicCredentials {
        let token = Data("\(name):\(password)".utf8).base64EncodedString()
        guard case .credentials(let credentials) = BasicScheme.read(["Basic \(token)"]) else {
            throw OpenSSLKitError.none
        }
        return credentials
    }

    private enum OpenSSLKitError: Error { case none }

    /// Somebody whom a realm has let in.
    private func identity(_ name: String, realm: String = "any") async throws -> AuthenticatedIdentity {
        let text = """
            login permit { PermitLoginModule required; }
            realm any   { class StackRealm; jaas-context permit; }
            realm other { class StackRealm; jaas-context permit; }
            """
        let files = ConfigurationFiles(
            read: { _ in .success(ConfigurationFiles.Contents(bytes: Array(text.utf8))) },
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

    private func known(_ identity: AuthenticatedIdentity, from peer: String? = nil) -> VerifiedCredentials.Known {
        VerifiedCredentials.Known(
            account: Account(realm: identity.realm, key: identity.username.text),
            username: identity.username,
            source: peer.map { Source($0) }
        )
    }

    @Test func `somebody is known for a time that begins with the login, however often he comes`() async throws {
        let verified = try VerifiedCredentials(lifetime: 100)
        let key = try #require(verified.key(realms: ["any"], peer: nil, credentials("zed", "x")))
        let zed = try await identity("zed")
        #expect(verified.entry(key, 0) == nil)
        verified.remember(key, zed, known(zed), 50)
        for now in UInt64(50)..<150 { #expect(verified.entry(key, now)?.identity.username == zed.username) }
        #expect(verified.entry(key, 150) == nil)
        #expect(verified.entry(key, .max) == nil)
    }

    @Test func `without a lifetime nobody is remembered`() throws {
        #expect(try VerifiedCredentials(lifetime: 0).key(realms: ["any"], peer: nil, credentials("zed", "x")) == nil)
    }

    @Test func `CVE-2026-71326: no two triples of realm, name and password are the same`() throws {
        let verified = try VerifiedCredentials(lifetime: 100)
        let triples = [
            ("any", "zed", "x"), ("an", "yzed", "x"), ("anyz", "ed", "x"), ("any", "zedx", ""), ("any", "ze", "dx"),
            ("any", "zed", "X"), ("any", "Zed", "x"), ("Any", "zed", "x"), ("", "anyzed", "x"), ("any", "zed", ""),
            ("any", "zed", "x "), ("any", "zed", "x:"), ("any", "zed", "x:x"), ("anyzedx", "a", ""),
            ("any", "e\u{301}", "x"),
            ("any", "\u{E9}", "x"), ("any", "z", "edx"), ("any:zed", "x", "x"),
        ]
        let keys = try triples.map { try #require(verified.key(realms: [$0.0], peer: nil, credentials($0.1, $0.2))) }
        #expect(Set(keys).count == triples.count)
        // And the same triple is the same key, but not in another process.
        #expect(try verified.key(realms: ["any"], peer: nil, credentials("zed", "x")) == keys[0])
        #expect(
            try VerifiedCredentials(lifetime: 100).key(realms: ["any"], peer: nil, credentials("zed", "x")) != keys[0]
        )
    }

    @Test func `there are never more than the bound, and the oldest goes first`() async throws {
        let verified = try VerifiedCredentials(lifetime: 1_000_000, bound: 8)
        let zed = try await identity("zed")
        let keys = try (0..<50).map {
            try #require(verified.key(realms: ["any"], peer: nil, credentials("zed", "\($0)")))
        }
        for (index, key) in keys.enumerated() {
            verified.remember(key, zed, known(zed), UInt64(index))
            let known = keys.filter { verified.entry($0, UInt64(index)) != nil }
            #expect(known == Array(keys[max(0, index - 7)...index]))
        }
    }

    @Test func `somebody who logs in anew is no longer the oldest`() async throws {
        let verified = try VerifiedCredentials(lifetime: 10, bound: 2)
        let zed = try await identity("zed")
        let keys = try (0..<3).map {
            try #require(verified.key(realms: ["any"], peer: nil, credentials("zed", "\($0)")))
        }
        verified.remember(keys[0], zed, known(zed), 0)
        verified.remember(keys[1], zed, known(zed), 5)
        // Two requests with the same credentials came at a time, and both were logged in.
        verified.remember(keys[0], zed, known(zed), 6)
        verified.remember(keys[2], zed, known(zed), 7)
        #expect(verified.entry(keys[0], 8) != nil)
        #expect(verified.entry(keys[1], 8) == nil)
        #expect(verified.entry(keys[2], 8) != nil)
    }

    @Test func `when everybody is forgotten, so are logins on their way`() async throws {
        let verified = try VerifiedCredentials(lifetime: 100)
        let zed = try await identity("zed")
        let key = try #require(verified.key(realms: ["any"], peer: nil, credentials("zed", "x")))
        let onTheWay = try #require(verified.key(realms: ["any"], peer: nil, credentials("zed", "y")))
        verified.remember(key, zed, known(zed), 0)
        verified.forget { _ in true }
        verified.remember(onTheWay, zed, known(zed), 1)
        for password in ["x", "y"] {
            let anew = try #require(verified.key(realms: ["any"], peer: nil, credentials("zed", password)))
            #expect(verified.entry(anew, 1) == nil)
        }
        #expect(verified.entry(key, 1) == nil)
        let anew = try #require(verified.key(realms: ["any"], peer: nil, credentials("zed", "x")))
        verified.remember(anew, zed, known(zed), 2)
        #expect(verified.entry(anew, 3) != nil)
    }

    @Test func `when a user is forgotten, so are his logins on their way, and nobody else`() async throws {
        let verified = try VerifiedCredentials(lifetime: 100)
        let (zed, zoe) = (try await identity("zed"), try await identity("zoe"))
        let elsewhere = try await identity("zed", realm: "other")
        func key(_ name: String, _ password: String, _ realm: String = "any") throws -> VerifiedCredentials.Key {
            try #require(verified.key(realms: [realm], peer: nil, credentials(name, password)))
        }
        verified.remember(try key("zed", "x"), zed, known(zed), 0)
        verified.remember(try key("zoe", "x"), zoe, known(zoe), 0)
        verified.remember(try key("zed", "x", "other"), elsewhere, known(elsewhere), 0)
        let onTheWay = try key("zed", "y")
        verified.forget { $0.account.realm == "any" && $0.username == zed.username }
        verified.remember(onTheWay, zed, known(zed), 1)
        #expect(verified.entry(try key("zed", "x"), 1) == nil)
        #expect(verified.entry(try key("zed", "y"), 1) == nil)
        #expect(verified.entry(try key("zoe", "x"), 1) != nil)
        #expect(verified.entry(try key("zed", "x", "other"), 1) != nil)
    }

    @Test func `a user who is forgotten and comes again does not make others go early`() async throws {
        let verified = try VerifiedCredentials(lifetime: 1000, bound: 2)
        let zed = try await identity("zed")
        func key(_ password: String) throws -> VerifiedCredentials.Key {
            try #require(verified.key(realms: ["any"], peer: nil, credentials("zed", password)))
        }
        verified.remember(try key("a"), zed, known(zed), 0)
        verified.forget { $0.account.realm == "any" && $0.username == zed.username }
        verified.remember(try key("b"), zed, known(zed), 1)
        verified.remember(try key("a"), zed, known(zed), 2)
        verified.remember(try key("c"), zed, known(zed), 3)
        #expect(verified.entry(try key("a"), 4) != nil)
        #expect(verified.entry(try key("b"), 4) == nil)
    }

    @Test func `no description holds a name or a password`() async throws {
        let verified = try VerifiedCredentials(lifetime: 100)
        let credentials = try credentials("unusualname", "hunter2secret")
        let key = try #require(verified.key(realms: ["any"], peer: nil, credentials))
        let zed = try await identity("zed")
        verified.remember(key, zed, known(zed), 0)
        for value in [credentials, key, verified, verified.entry(key, 1) as Any] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("hunter2"))
                #expect(!text.contains("unusualname"))
                #expect(!text.contains("104, 117, 110, 116, 101, 114"))
            }
        }
    }

    @Test func `credentials that were accepted from one address are unknown from another`() async throws {
        let verified = try VerifiedCredentials(lifetime: 100)
        let zed = try await identity("zed")
        let here = try #require(verified.key(realms: ["any"], peer: "192.0.2.1", credentials("zed", "x")))
        verified.remember(here, zed, known(zed, from: "192.0.2.1"), 0)
        #expect(verified.entry(here, 1) != nil)
        for peer in ["192.0.2.2", nil] {
            #expect(
                verified.entry(try #require(verified.key(realms: ["any"], peer: peer, credentials("zed", "x"))), 1)
                    == nil
            )
        }
        verified.forget { $0.source == Source("192.0.2.2") }
        #expect(verified.entry(here, 1) != nil)
        verified.forget { $0.source == Source("192.0.2.1") }
        #expect(verified.entry(here, 1) == nil)
    }

    @Test func `a flood of locks of others keeps nobody from being remembered`() async throws {
        let verified = try VerifiedCredentials(lifetime: 100)
        let (zed, zoe) = (try await identity("zed"), try await identity("zoe"))
        let zedKey = try #require(verified.key(realms: ["any"], peer: nil, credentials("zed", "x")))
        let zoeKey = try #require(verified.key(realms: ["any"], peer: nil, credentials("zoe", "x")))
        for number in 0..<900 { verified.forget { $0.account.key == "invented \(number)" } }
        verified.forget { $0.account.key == "zoe" }
        verified.remember(zedKey, zed, known(zed), 1)
        verified.remember(zoeKey, zoe, known(zoe), 1)
        #expect(verified.entry(zedKey, 2) != nil)
        #expect(verified.entry(zoeKey, 2) == nil)
        // What is no longer kept counts for everybody: then the next login is the one that is remembered.
        let late = try #require(verified.key(realms: ["any"], peer: nil, credentials("zed", "y")))
        for number in 0..<1100 { verified.forget { $0.account.key == "invented \(number)" } }
        verified.remember(late, zed, known(zed), 3)
        #expect(verified.entry(late, 4) == nil)
        let next = try #require(verified.key(realms: ["any"], peer: nil, credentials("zed", "y")))
        verified.remember(next, zed, known(zed), 5)
        #expect(verified.entry(next, 6) != nil)
    }
}

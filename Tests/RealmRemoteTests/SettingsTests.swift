// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import HTTPSTesting
import RealmKit
import SeededRandom
import TLSTesting
import Testing

@testable import RealmRemote

@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct SettingsTests {
    private static let valid = ["url": ["https://localhost/"]]

    @Test(arguments: [
        ("url", []), ("url", ["http://localhost/"]), ("url", ["https://a/", "https://A:443/"]), ("url", ["ftp://a/"]),
        ("gatehouse", ["https://localhost/"]), ("credentials", ["digest"]), ("method", ["PUT"]), ("token", ["abc"]),
        ("body-template", [#"{"a":"%u"}"#]), ("fields", ["X"]), ("fields", ["X Y: a"]), ("fields", ["X: a\r\nY: b"]),
        ("fields", ["Host: a"]), ("fields", ["Authorization: a"]), ("user-agent", ["a\nb"]), ("user-agent", [""]),
        ("ca-file", ["/no/such/file"]), ("ca-file", ["/dev/null"]), ("pins", []), ("pins", ["abc"]),
        ("client-key", ["/dev/null"]),
        ("client-certificate", ["/no/such/file"]), ("connect-timeout", ["0s"]), ("timeout", ["2h"]),
        ("maximum-response", ["0"]),
        ("connections", ["0"]), ("queue", ["-1"]), ("when-full", ["wait"]), ("fail-over", ["always"]),
        ("user-path", ["user"]),
        ("groups-path", ["/*/*"]), ("reason-path", ["/a", "b"]), ("attribute-paths", ["mail"]),
        ("attribute-paths", ["=/a"]),
        ("attribute-paths", ["a b=/a"]), ("attributes-path", ["/a/*"]), ("outcomes", ["401"]),
        ("outcomes", ["401:maybe"]),
        ("outcomes", ["600:accepted"]), ("outcomes", ["2x0:accepted"]), ("outcomes", ["200/:accepted"]),
        ("outcomes", ["200:accepted", "200:locked"]), ("verify", ["off"]),
    ])
    func `properties that are rejected`(name: String, words: [String]) {
        #expect(throws: (any Error).self) { try RemoteSetup.realm(Self.valid.merging([name: words]) { $1 }) }
    }

    @Test func `a realm needs a server`() {
        #expect(throws: BadRealm.self) { try RemoteSetup.realm([:]) }
    }

    @Test func `a client certificate and its key`() throws {
        let pki = try RemoteSetup.pki
        let files = [
            "client-certificate": [pki.file("client-chain.pem").path], "client-key": [pki.file("client.key").path],
        ]
        _ = try RemoteSetup.realm(Self.valid.merging(files) { $1 })
        let wrong = files.merging(["client-key": [pki.file("server.key").path]]) { $1 }
        #expect(throws: BadRealm.self) { try RemoteSetup.realm(Self.valid.merging(wrong) { $1 }) }
    }

    @Test(arguments: [0o644, 0o604, 0o620, 0o602])
    func `a client key that other users can read or change is rejected`(mode: Int) throws {
        let pki = try RemoteSetup.pki
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("client-\(UUID().uuidString).key")
        try FileManager.default.copyItem(at: pki.file("client.key"), to: copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        let files = ["client-certificate": [pki.file("client-chain.pem").path], "client-key": [copy.path]]
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path)
        _ = try RemoteSetup.realm(Self.valid.merging(files) { $1 })
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: copy.path)
        let fault = #expect(throws: BadRealm.self) { try RemoteSetup.realm(Self.valid.merging(files) { $1 }) }
        #expect(fault?.setting == "client-key")
    }

    @Test(arguments: [
        ["https://a/x", "https://a/y"], ["https://a/x", "https://A:443/x"], ["https://[::1]/x", "https://[0:0::1]/y"],
        ["https://a:8443", "https://b", "https://a:8443/x"],
    ])
    func `two URLs of the same server are rejected`(urls: [String]) {
        for property in ["url", "gatehouse"] {
            let fault = #expect(throws: BadRealm.self) { try RemoteSetup.realm([property: urls]) }
            #expect(fault?.setting == property)
        }
    }

    @Test func `two ports of a host are two servers`() throws {
        _ = try RemoteSetup.realm(["url": ["https://a/x", "https://a:8443/x", "https://b/x"]])
    }

    @Test(arguments: [
        (200, nil, OutcomeTable.Outcome.accepted), (204, nil, .accepted), (401, nil, .failed(.wrongCredentials)),
        (403, nil, .failed(.permissionDenied)), (423, nil, .failed(.locked)), (200, "locked", nil), (201, nil, nil),
        (202, nil, nil), (206, nil, nil), (302, nil, nil), (404, nil, nil), (429, nil, .failed(.overloaded)),
        (500, nil, nil),
        (401, "other", .failed(.wrongCredentials)),
    ])
    func `the default outcomes`(status: Int, reason: String?, outcome: OutcomeTable.Outcome?) throws {
        #expect(try OutcomeTable([]).outcome(status: status, reason: reason) == outcome)
    }

    @Test(arguments: [
        (200, nil, nil), (200, "ok", OutcomeTable.Outcome.accepted), (200, "bad", .failed(.wrongCredentials)),
        (200, "other", nil),
        (401, nil, nil), (403, nil, .failed(.disabled)), (403, "expired", .failed(.credentialExpired)),
        (403, "x", .failed(.disabled)),
        (418, "a:b", .failed(.locked)), (418, nil, .failed(.disabled)), (423, nil, .failed(.disabled)),
    ])
    func `configured outcomes`(status: Int, reason: String?, outcome: OutcomeTable.Outcome?) throws {
        let table = try OutcomeTable([
            "200/ok:accepted", "200/bad:wrong-credentials", "4xx:disabled", "403/expired:credential-expired",
            "418/a:b:locked",
            "401:unavailable",
        ])
        let expected = status == 401 ? .failed(.unavailable) : outcome
        #expect(table.outcome(status: status, reason: reason) == expected)
    }

    @Test func `fields, the User-Agent and the method are sent`() async throws {
        try await RemoteSetup.run(respond: { _ in [empty("204 No Content")] }) { setup in
            let realm = try setup.realm([
                "user-agent": ["Check/1.0"], "fields": ["X-Key: a: b", "X-Empty:"], "method": ["POST"],
            ])
            #expect(try await realm.login("ann", "secret").identity != nil)
            let request = try #require(setup.service.requests.first)
            #expect(request.line == "POST /login HTTP/1.1")
            #expect(request.field("User-Agent") == "Check/1.0")
            #expect(request.field("X-Key") == "a: b")
            #expect(request.field("X-Empty") == "")
            #expect(request.field("Content-Length") == "0")
        }
    }

    @Test func `names and passwords with any characters arrive unchanged`() async throws {
        try await RemoteSetup.run(respond: { _ in [empty("204 No Content")] }) { setup in
            let realm = try setup.realm()
            var random = Random(seed: 99)
            let alphabet = Array("-\"\\{}[]:,%;=&?#/@'`$()<> \r\n\t\u{0}é\u{1F600}\u{2028}a").map { String($0) }
            var sent = 0
            for _ in 0..<300 {
                let text = "-" + (0..<random.below(10)).map { _ in random.pick(alphabet) }.joined()
                let password = "x" + (0..<random.below(10)).map { _ in random.pick(alphabet) }.joined()
                guard let name = try? Username(text) else { continue }
                let report = try await realm.login(name.text, password)
                let isControl = password.utf8.contains { $0 < 0x20 || $0 == 0x7F }
                guard !text.utf8.contains(UInt8(ascii: ":")), !isControl else {
                    #expect(report.failure == .unusableCredential)
                    continue
                }
                sent += 1
                #expect(report.identity?.subject.users == [text])
                let request = try #require(setup.service.requests.last)
                #expect(request.head.split(separator: "\r\n").count == 5)
                let encoded = try #require(request.field("Authorization")).dropFirst("Basic ".count)
                #expect(Base64.padded.decode(encoded) == Array("\(text):\(password)".utf8))
            }
            #expect(sent > 20)
            #expect(setup.service.requests.count == sent)
        }
    }

    @Test func `the configuration of the documentation`() async throws {
        let accepted = #"""
            {"user":{"name":"Ann","mail":["ann@example.org"],"groups":[{"id":1,"name":"Staff"},{"id":2,"name":"Users"}]}}
            """#
        let respond: @Sendable (TestService.Received) -> [TestService.Step] = { request in
            switch String(decoding: request.body, as: UTF8.self) {
            case #"{"login":"ann","secret":"lilac"}"#: [json(accepted)]
            case #"{"login":"old","secret":"lilac"}"#: [json(#"{"error":"expired"}"#, status: "403 Forbidden")]
            case #"{"login":"off","secret":"lilac"}"#: [json(#"{"error":"disabled"}"#, status: "403 Forbidden")]
            case #"{"login":"odd","secret":"lilac"}"#: [json(#"{"error":"odd"}"#, status: "403 Forbidden")]
            case _: [empty("401 Unauthorized")]
            }
        }
        try await RemoteSetup.run(respond: respond) { setup in
            let realm = try setup.realm([
                "body-template": [#"{"login":"%u","secret":"%p"}"#], "user-path": ["/user/name"],
                "groups-path": ["/user/groups/*/name"], "attribute-paths": ["mail=/user/mail"],
                "reason-path": ["/error"],
                "outcomes": ["403/expired:credential-expired", "403/disabled:disabled"],
            ])
            let identity = try await realm.login("ann", "lilac").identity
            #expect(identity?.subject.users == ["Ann"])
            #expect(identity?.subject.groups == ["Staff", "Users"])
            #expect(identity?.subject.attributes.values(of: "mail") == ["ann@example.org"])
            #expect(try await realm.login("ann", "rose").failure == .wrongCredentials)
            #expect(try await realm.login("old", "lilac").failure == .credentialExpired)
            #expect(try await realm.login("off", "lilac").failure == .disabled)
            #expect(try await realm.login("odd", "lilac").failure == .unavailable)
        }
    }
}

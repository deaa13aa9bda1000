// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPSTesting
import OpenSSLKit
import RealmKit
import TLSTesting
import TestTools
import Testing

@testable import RealmRemote

/// Every outage is `unavailable`, is logged with its cause, and sends the password at most once.
@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct OutageTests {
    private static let paths: [String: [String]?] = [
        "user-path": ["/user"], "groups-path": ["/groups"], "reason-path": ["/error"],
    ]

    private static let jsonHead = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

    private static let answers: [(steps: [TestService.Step], cause: String)] = [
        ([empty("500 Oops")], "answered 500"), ([empty("503 Busy")], "answered 503"),
        ([empty("404 Not Found")], "answered 404"), ([empty("202 Accepted")], "answered 202"),
        ([.send("HTTP/1.1 302 Found\r\nLocation: /in\r\nContent-Length: 0\r\n\r\n")], "answered 302"),
        ([.send("garbage\r\n\r\n")], "not HTTP/1.1"), ([.close], "closed the connection"),
        ([.abort], "closed"),
        ([.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), .close], "closed the connection"),
        ([.send("HTTP/1.1 200 OK\r\n\r\n"), .flood(10_000_000_000)], "longer than 65536 bytes"),
        ([.send(jsonHead + "\r\n[x"), .close], "not valid JSON"),
        ([.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi")], "type text/html"),
        ([empty("200 OK")], "type none"), ([json("{")], "not valid JSON"), ([json("")], "not valid JSON"),
        ([json(#"{"user":"ann","user":"root","groups":[]}"#)], "occurs twice"),
        ([json(#"{"user":"ann"}"#)], "no groups"), ([json(#"{"groups":[]}"#)], "no user name"),
        ([json(#"{"user":null,"groups":[]}"#)], "no user name"), ([json(#"{"user":1,"groups":[]}"#)], "no user name"),
        ([json(#"{"user":["ann","root"],"groups":[]}"#)], "no user name"),
        ([json(#"{"user":"ann","groups":"#, status: "200 OK")], "not valid JSON"),
        ([json(#"{"user":"ann","groups":[1]}"#)], "no groups"),
        ([json(#"{"user":"ann","groups":[["a"]]}"#)], "no groups"),
        ([json(#"{"user":"ann","groups":{"a":"b"}}"#)], "no groups"),
        ([json(#"{"user":"ann","groups":[""]}"#)], "groups"),
        ([json(#"{"user":"ann","groups":["a\nb"]}"#)], "groups"),
        ([json(#"{"user":"a\nb","groups":[]}"#)], "user name in the response cannot be used"),
        ([json(#"{"user":"ann","groups":[],"error":"locked"}"#)], "not in the table"),
        ([json(#"{"user":"ann","groups":[],"error":true}"#)], "not a text"),
        ([json("{", status: "401 Unauthorized")], "not valid JSON"),
    ]

    @Test(arguments: answers.indices)
    func `an answer that cannot be used`(index: Int) async throws {
        let (steps, cause) = Self.answers[index]
        try await RemoteSetup.run(respond: { _ in steps }) { setup in
            let realm = try setup.realm(Self.paths)
            let report = try await realm.login("ann", "secret")
            #expect(report.failure == .unavailable)
            #expect(report.isUnavailable)
            #expect(setup.log.contains("error: realm people: https://localhost"), "\(setup.log.all)")
            #expect(setup.log.contains(cause), "\(setup.log.all)")
            #expect(!setup.log.contains("secret"))
            #expect(setup.service.requests.count == 1)
        }
    }

    @Test func `a slow service`() async throws {
        try await RemoteSetup.run(respond: { _ in [] }) { setup in
            let realm = try setup.realm(["timeout": ["500ms"]])
            #expect(try await realm.login("ann", "secret").failure == .unavailable)
            // On a busy machine the connection may not be open in time.
            #expect(setup.log.contains("not complete after") || setup.log.contains("no connection"), "\(setup.log.all)")
        }
    }

    @Test func `a service that is down, and back`() async throws {
        let tls = try TLSConfiguration.server(RemoteSetup.pki.identity("server"))
        let service = try await TestService(tls: tls, respond: { _ in [empty("204 No Content")] })
        let setup = RemoteSetup(service: service)
        let port = service.port
        let realm = try setup.realm()
        #expect(try await realm.login("ann", "secret").identity != nil)
        try await service.stop()
        // The end of the connection may arrive later than the request.
        try await Waiting.until { service.closedConnections == 1 }
        #expect(try await realm.login("ann", "secret").failure == .unavailable)
        #expect(setup.log.all.count == 1)
        let other = try await TestService(tls: tls, port: port, respond: { _ in [empty("204 No Content")] })
        #expect(try await realm.login("ann", "secret").identity != nil)
        try await other.stop()
    }

    @Test(arguments: [("other", "match"), ("expiredserver", "expired")])
    func `a certificate with another name, or that has expired`(certificate: String, cause: String) async throws {
        try await RemoteSetup.run(certificate: certificate, respond: { _ in [empty("204 No Content")] }) { setup in
            let realm = try setup.realm()
            #expect(try await realm.login("ann", "secret").failure == .unavailable)
            #expect(setup.log.contains("certificate was rejected"), "\(setup.log.all)")
            #expect(setup.log.contains(cause), "\(setup.log.all)")
            #expect(setup.service.requests.isEmpty)
        }
    }

    @Test func `an unknown authority, and a changed key`() async throws {
        try await RemoteSetup.run(respond: { _ in [empty("204 No Content")] }) { setup in
            let strange = try setup.realm(["ca-file": [RemoteSetup.pki.file("strange.pem").path]])
            #expect(try await strange.login("ann", "secret").failure == .unavailable)
            let pin = try RemoteSetup.pki.certificates("server")[0].publicKeyDigest().pin
            let pinned = try setup.realm(["ca-file": nil, "pins": [pin]])
            #expect(try await pinned.login("ann", "secret").identity != nil)
            let other = try RemoteSetup.pki.certificates("other")[0].publicKeyDigest().hex
            let changed = try setup.realm(["ca-file": nil, "pins": [other]])
            #expect(try await changed.login("ann", "secret").failure == .unavailable)
            let both = try setup.realm(["pins": [other]])
            #expect(try await both.login("ann", "secret").failure == .unavailable)
            #expect(setup.service.requests.count == 1)
            #expect(setup.log.all.count == 3)
            #expect(setup.log.all.allSatisfy { $0.contains("certificate was rejected") })
        }
    }

    @Test func `a handshake that does not continue`() async throws {
        let service = try await TestService(tls: nil, respond: { _ in [] })
        let setup = RemoteSetup(service: service)
        let realm = try setup.realm(["connect-timeout": ["200ms"]])
        #expect(try await realm.login("ann", "secret").failure == .unavailable)
        #expect(setup.log.contains("no connection was open") || setup.log.contains("handshake"), "\(setup.log.all)")
        try await service.stop()
    }

    @Test func `a cause is logged at most once a second`() async throws {
        try await RemoteSetup.run(respond: { _ in [empty("500 Oops")] }) { setup in
            let realm = try setup.realm()
            for _ in 0..<20 { #expect(try await realm.login("ann", "secret").failure == .unavailable) }
            #expect((1...10).contains(setup.log.all.count))
        }
    }

    @Test func `a login that is cancelled closes its connection`() async throws {
        try await RemoteSetup.run(respond: { _ in [] }) { setup in
            let realm = try setup.realm()
            let task = Task { try await realm.login("ann", "secret") }
            try await Waiting.until { setup.service.requests.count == 1 }
            task.cancel()
            #expect(try await task.value.identity == nil)
            try await Waiting.until { setup.service.closedConnections == 1 }
            #expect(setup.log.all == [])
        }
    }
}

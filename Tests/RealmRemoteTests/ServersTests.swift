// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPSTesting
import RealmKit
import TLSTesting
import TestTools
import Testing

@testable import RealmRemote

@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct ServersTests {
    /// Runs a login with two servers; the first one answers with `first`.
    private static func login(
        first: [TestService.Step]?,
        certificate: String = "server",
        properties: [String: [String]?] = [:]
    ) async throws -> (report: LoginReport, first: Int, second: Int) {
        try await RemoteSetup.run(respond: { _ in [empty("204 No Content")] }) { second in
            try await RemoteSetup.run(certificate: certificate, respond: { _ in first ?? [] }) { setup in
                let port = setup.service.port
                if first == nil { try await setup.service.stop() }
                let urls = ["https://localhost:\(port)/", "https://localhost:\(second.service.port)/"]
                let realm = try setup.realm(properties.merging(["url": urls]) { given, _ in given })
                let report = try await realm.login("ann", "secret")
                if first == nil { return (report, 0, second.service.requests.count) }
                return (report, setup.service.requests.count, second.service.requests.count)
            }
        }
    }

    @Test func `the next server is asked if the first one was not reached`() async throws {
        let untrusted = try await Self.login(first: [empty("204 No Content")], certificate: "other")
        #expect(untrusted.report.identity != nil)
        #expect((untrusted.first, untrusted.second) == (0, 1))
    }

    @Test func `the next server is not asked if the first one may have the password`() async throws {
        for steps in [[empty("503 Busy")], [.abort], [.send("garbage\r\n\r\n")]] as [[TestService.Step]] {
            let result = try await Self.login(first: steps)
            #expect(result.report.failure == .unavailable)
            #expect((result.first, result.second) == (1, 0))
        }
    }

    @Test func `the next server is asked if the first one is unavailable, if this is configured`() async throws {
        for steps in [[empty("503 Busy")], [.abort], [.send("garbage\r\n\r\n")]] as [[TestService.Step]] {
            let result = try await Self.login(first: steps, properties: ["fail-over": ["unavailable"]])
            #expect(result.report.identity != nil)
            #expect((result.first, result.second) == (1, 1))
        }
    }

    @Test func `a refusal is final`() async throws {
        let result = try await Self.login(
            first: [empty("401 Unauthorized")],
            properties: ["fail-over": ["unavailable"]]
        )
        #expect(result.report.failure == .wrongCredentials)
        #expect((result.first, result.second) == (1, 0))
    }

    // MARK: Another Gatehouse

    /// Runs a login with the two lines of configuration for another Gatehouse.
    private static func gatehouse(
        _ steps: [TestService.Step],
        token: String? = nil
    ) async throws -> (report: LoginReport, request: TestService.Received?, log: LogEntries) {
        try await RemoteSetup.run(respond: { _ in steps }) { setup in
            let realm = try setup.realm([
                "url": nil, "gatehouse": ["https://localhost:\(setup.service.port)/realms/people/check"],
                "token": token.map { [$0] },
            ])
            return (try await realm.login("an\"n", "se\\cret"), setup.service.requests.first, setup.log)
        }
    }

    @Test func `a user of another Gatehouse`() async throws {
        let body = #"""
            {"outcome":"accepted","user":"ann","groups":["A","B"],"principals":[{"kind":"user","name":"ann"}],
            "attributes":{"mail":["a@b","c@d"],"displayName":["Ann A."],"bad name":["x"]}}
            """#
        let (report, request, _) = try await Self.gatehouse([json(body)], token: "abc")
        let identity = try #require(report.identity)
        #expect(identity.subject.users == ["ann"])
        #expect(identity.subject.groups == ["A", "B"])
        #expect(identity.subject.attributes.values(of: "mail") == ["a@b", "c@d"])
        #expect(identity.subject.attributes.values(of: "displayName") == ["Ann A."])
        #expect(identity.subject.attributes.count == 2)
        let sent = try #require(request)
        #expect(sent.line == "POST /realms/people/check HTTP/1.1")
        #expect(sent.field("Authorization") == "Bearer abc")
        #expect(sent.field("Content-Type") == "application/json")
        let fields = try JSONSerialization.jsonObject(with: Data(sent.body)) as? [String: String]
        #expect(fields == ["username": "an\"n", "password": "se\\cret"])
    }

    @Test(arguments: [
        "sec\u{0}ret", "\u{0}", String(repeating: "x", count: 32_768), String(repeating: "\u{1}", count: 6000),
    ])
    func `a password that another Gatehouse cannot read is refused without asking it`(password: String) async throws {
        try await RemoteSetup.run(respond: { _ in [json(#"{"error":"malformed"}"#, status: "400 Bad Request")] }) {
            setup in
            let url = "https://localhost:\(setup.service.port)/realms/people/check"
            let realm = try setup.realm(["url": nil, "gatehouse": [url]])
            #expect(try await realm.login("ann", password).failure == .unusableCredential)
            #expect(setup.service.requests.isEmpty)
            #expect(setup.log.all == [])
            // The longest password that it can read.
            let longest = String(repeating: "x", count: 32_768 - #"{"username":"ann","password":""}"#.utf8.count)
            #expect(try await realm.login("ann", longest).failure == .unavailable)
            #expect(setup.service.requests.count == 1)
        }
    }

    @Test(arguments: [
        ("wrong-credentials", LoginFailure.wrongCredentials), ("locked", .locked), ("unknown-user", .unknownUser),
        ("unavailable", .unavailable), ("something", .unavailable), ("accepted", .unavailable),
    ])
    func `a refusal of another Gatehouse`(reason: String, failure: LoginFailure) async throws {
        let body = #"{"outcome":"refused","reason":"\#(reason)"}"#
        let report = try await Self.gatehouse([json(body)]).report
        #expect(report.failure == failure)
    }

    @Test(arguments: [
        #"{}"#, #"{"outcome":"refused"}"#, #"{"outcome":"yes","user":"ann","groups":[]}"#,
        #"{"user":"ann","groups":[]}"#,
        #"{"outcome":"accepted","groups":[]}"#, #"{"outcome":"accepted","user":"ann"}"#,
    ])
    func `an incomplete answer of another Gatehouse`(body: String) async throws {
        let report = try await Self.gatehouse([json(body)]).report
        #expect(report.failure == .unavailable)
    }

    @Test func `another Gatehouse that does not accept this program`() async throws {
        for status in ["401 Unauthorized", "403 Forbidden"] {
            let (report, _, log) = try await Self.gatehouse([json(#"{"error":"forbidden"}"#, status: status)])
            #expect(report.failure == .unavailable)
            #expect(log.contains("the token, the client certificate or the network of this program is not accepted"))
        }
    }

    @Test(arguments: [("unavailable", LoginFailure.unavailable), ("overloaded", .overloaded)])
    func `another Gatehouse that cannot decide now`(error: String, failure: LoginFailure) async throws {
        let body = #"{"error":"\#(error)"}"#
        let (report, _, log) = try await Self.gatehouse([json(body, status: "503 Service Unavailable")])
        #expect(report.failure == failure)
        #expect(log.contains("answered 503"))
    }
}

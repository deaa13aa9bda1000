// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPSTesting
import RealmKit
import TLSTesting
import TestTools
import Testing

@testable import GatehouseClient

@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct RealmAPIClientTests {
    private static let token = "7c0f1f1ea8b5d3c5a1e29d6b54d2f0a9"
    private static let accepted = """
        {"attributes":{"mail":["ann@town.example"],"displayName":["Ann"]},"groups":["Staff"],"outcome":"accepted",\
        "principals":[{"kind":"user","name":"ann"},{"kind":"group","name":"Staff"}],"user":"ann"}

        """

    /// Returns the result of a check that is answered by these steps, and the request.
    private static func check(
        _ steps: [TestService.Step],
        name: String = "Ann",
        password: Secret = Secret(utf8: "correct horse"),
        in realm: String = "people",
        codes: [String] = [],
        address: String? = nil
    ) async throws -> (result: CredentialCheck, requests: [TestService.Received]) {
        try await withService(respond: { _ in steps }) { service, server in
            let client = try RealmAPIClient(server, token: Secret(utf8: token))
            let result = await client.check(
                name,
                password: password,
                in: realm,
                codes: codes.map { Secret(utf8: $0) },
                service: "imap",
                address: address
            )
            return (result, service.requests)
        }
    }

    private static func cause(_ steps: TestService.Step...) async throws -> String? {
        let (result, requests) = try await check(steps)
        #expect(requests.count == 1)
        return result.cause
    }

    @Test func `an accepted user has the name, the groups and the attributes of the server`() async throws {
        let (result, requests) = try await Self.check(
            [.response(Self.accepted)],
            codes: ["123456", "\"\\"],
            address: "203.0.113.9"
        )
        let user = try #require(result.user)
        #expect(user.username == (try Username("ann")) && user.realm == "people" && user.groups == ["Staff"])
        #expect(user.attributes.map(\.name) == ["displayName", "mail"])
        #expect(user.attributes.values(of: "mail") == ["ann@town.example"])
        let request = try #require(requests.first)
        #expect(request.line == "POST /gatehouse/realms/people/check HTTP/1.1")
        #expect(request.field("Authorization") == "Bearer \(Self.token)")
        #expect(request.field("Content-Type") == "application/json")
        let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
        #expect(body["username"] as? String == "Ann" && body["password"] as? String == "correct horse")
        #expect(body["codes"] as? [String] == ["123456", "\"\\"] && body["service"] as? String == "imap")
        #expect(body["address"] as? String == "203.0.113.9" && body.count == 5)
    }

    @Test(arguments: [("wrong-credentials", LoginFailure.wrongCredentials), ("locked", .locked)])
    func `a refused user has the reason of the server`(code: String, failure: LoginFailure) async throws {
        let (result, _) = try await Self.check([.response(#"{"outcome":"refused","reason":"\#(code)"}"#)])
        #expect(result.failure == failure)
    }

    @Test(arguments: [
        (400, #"{"error":"malformed","reason":"a duplicate name"}"#, "status 400, malformed, a duplicate name"),
        (401, #"{"error":"unknown-program"}"#, "status 401, unknown-program"),
        (403, #"{"error":"forbidden"}"#, "status 403, forbidden"), (404, "<html>", "status 404"),
        (500, "", "status 500"), (503, #"{"error":"unavailable"}"#, "status 503, unavailable"),
        (503, #"{"error":"a\nFORGED"}"#, "status 503, a FORGED"), (302, Self.accepted, "status 302"),
        (201, Self.accepted, "status 201"), (401, Self.accepted, "status 401"),
    ])
    func `every status but 200 is no answer, whatever the body says`(
        status: Int,
        body: String,
        text: String
    ) async throws {
        let cause = try #require(try await Self.cause(.response(body, status: status)))
        #expect(cause.hasPrefix("https://localhost:") && cause.hasSuffix("/gatehouse/realms/people/check: \(text)"))
    }

    @Test(arguments: [
        "", "{}", "[]", "true", Self.accepted + "x", Self.accepted.replacing("\"ann\"}", with: "\"\"}"),
        #"{"outcome":"accepted"}"#,
        Self.accepted.replacing("}\n", with: #","outcome":"refused"}"#), Self.accepted.replacing("}\n", with: ""),
        Self.accepted.replacing("\"groups\":[\"Staff\"],", with: ""),
        Self.accepted.replacing("[\"Staff\"]", with: "\"Staff\""),
        Self.accepted.replacing("}\n", with: #","reason":"wrong-credentials"}"#),
        Self.accepted.replacing("accepted", with: "Accepted"),
        Self.accepted.replacing("mail", with: "a b"), Self.accepted.replacing("\"Ann\"", with: "\"\""),
        #"{"outcome":"refused"}"#, #"{"outcome":"refused","reason":"unavailable"}"#,
        #"{"outcome":"refused","reason":"accepted"}"#,
    ])
    func `an answer that is malformed or incomplete is no answer`(body: String) async throws {
        #expect(try await Self.cause(.response(body)) != nil, "\(body)")
    }

    @Test func `an answer that is not JSON by its type, ends too early or is too long is no answer`() async throws {
        #expect(try await Self.cause(.response(Self.accepted, type: "text/html")) != nil)
        #expect(
            try await Self.cause(.send("HTTP/1.1 200 X\r\nContent-Length: 9999\r\n\r\n" + Self.accepted), .close) != nil
        )
        let head = "HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 4194304\r\n\r\n"
        #expect(try await Self.cause(.send(head), .flood(4 << 20)) != nil)
    }

    @Test func `a cancelled check ends at once`() async throws {
        let latch = Latch()
        defer { latch.open() }
        try await withService(respond: { _ in [.wait(latch)] }) { service, server in
            let client = try RealmAPIClient(server, token: Secret(utf8: Self.token))
            let task = Task { await client.check("ann", password: Secret(utf8: "x"), in: "people") }
            try await Waiting.until { service.requests.count == 1 }
            task.cancel()
            #expect(await task.value.cause != nil)
        }
    }

    @Test func `credentials that no server reads are refused without a request`() async throws {
        let wrong: [(String, Secret)] = [
            ("", Secret(utf8: "x")), (" ann", Secret(utf8: "x")), ("a\u{0}", Secret(utf8: "x")),
            ("ann", Secret([0x61, 0x00])), ("ann", Secret([0xFF])),
            ("ann", Secret(utf8: String(repeating: "x", count: 40_000))),
        ]
        for (name, password) in wrong {
            let (result, requests) = try await Self.check([.response(Self.accepted)], name: name, password: password)
            #expect(result.failure != nil && requests.isEmpty)
        }
    }

    @Test(arguments: [("a b", "a%20b"), ("a/b", "a%2Fb"), ("Ä?#", "%C3%84%3F%23"), ("%2e%2e", "%252e%252e")])
    func `the name of a realm is one segment of the path`(realm: String, segment: String) async throws {
        let (result, requests) = try await Self.check([.response(Self.accepted)], in: realm)
        #expect(result.user?.realm == realm)
        #expect(requests.map(\.line) == ["POST /gatehouse/realms/\(segment)/check HTTP/1.1"])
    }

    @Test(arguments: [".", "..", ""])
    func `a name that would be another path is sent to no server, or accepted by none`(realm: String) async throws {
        let (result, requests) = try await Self.check([.response(Self.accepted)], in: realm)
        #expect(result.cause != nil)
        #expect(requests.allSatisfy { $0.line == "POST /gatehouse/realms//check HTTP/1.1" })
    }

    @Test func `the realms of the program are listed`() async throws {
        try await withService(respond: { _ in
            [.response(#"{"realms":[{"auth_type":"embedded store","name":"people"},{"auth_type":"x","name":"b"}]}"#)]
        }) { service, server in
            let client = try RealmAPIClient(server, token: nil)
            #expect(try await client.realms() == ["people", "b"])
            #expect(service.requests.map(\.line) == ["GET /gatehouse/realms HTTP/1.1"])
            #expect(service.requests.first?.field("Authorization") == nil)
        }
        try await withService(respond: { _ in [.response(#"{"error":"unknown-program"}"#, status: 401)] }) {
            _,
            server in
            let client = try RealmAPIClient(server, token: Secret(utf8: "x"))
            await #expect(throws: GatehouseClientError.self) { try await client.realms() }
        }
    }

    @Test func `a token is one line`() throws {
        let server = try GatehouseEndpoint("https://a")
        for text in ["", "a b", "a\n", "a\r\nX: y", "ä", "a\u{0}", String(repeating: "x", count: 513)] {
            let error = #expect(throws: GatehouseClientError.self) {
                try RealmAPIClient(server, token: Secret(utf8: text))
            }
            #expect(error?.description.contains("X: y") == false)
        }
        let folder = try ProgramFolder()
        for (text, isValid) in [("abc\n", true), ("abc", true), ("abc\n\n", false), ("", false), ("\n", false)] {
            let path = try folder.write(text, to: "token")
            let client = try? RealmAPIClient(server, tokenFile: path)
            #expect((client != nil) == isValid, "\(text)")
        }
        #expect(throws: GatehouseClientError.self) { try RealmAPIClient(server, tokenFile: folder.file("missing")) }
    }
}

extension CredentialCheck {
    /// The reason of a refusal; nil for every other result.
    fileprivate var failure: LoginFailure? { if case .refused(let failure) = self { failure } else { nil } }

    /// The cause why the login could not be decided.
    fileprivate var cause: String? { if case .unavailable(let cause) = self { cause } else { nil } }
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bytes
import Testing

@testable import AuthcheckCommand
@testable import AuthcheckRemote
@testable import HTTPSClient

/// The answers of a trusted server to `authcheck --server`.
struct RemoteAnswerTests {
    private func check(
        _ body: String,
        type: String? = "application/json",
        status: Int = 200
    ) throws -> RemoteReport {
        let options = try AuthcheckOptions.parse(["--server", "https://a.example", "people", "ann"])
        let url = try #require(ServerURL("https://a.example"))
        let check = RemoteCheck(options, url: url, standardInput: 0) { _, _ throws(HTTPSClientError) in
            throw HTTPSClientError(.connectFailed, "not used")
        }
        return try check.report(of: HTTPSResponse(status, body, type: type))
    }

    /// Returns an answer whose members are replaced; nil leaves one out.
    private static func accepted(_ changes: [String: String?] = [:], further: String = "") -> String {
        var members: [String: String?] = [
            "outcome": #""accepted""#, "user": #""ann""#, "groups": "[]", "principals": "[]", "attributes": "{}",
        ]
        for (name, value) in changes { members[name] = .some(value) }
        let texts = members.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return "{" + texts.joined(separator: ",") + further + "}"
    }

    @Test func `the user of the report is the user of the server`() throws {
        let report = try check(
            Self.accepted([
                "user": #""bob""#, "groups": #"["Staff"]"#, "attributes": #"{"mail":["b@x","c@x"]}"#,
                "principals": #"[{"kind":"user","name":"bob"},{"kind":"group","name":"Staff"}]"#,
            ])
        )
        #expect(report.status == .accepted && report.user == "bob")
        let expected = """
            accepted: bob in realm people of https://a.example
              user   bob
              group  Staff
              mail  b@x
              mail  c@x
            """
        #expect(report.text == expected)
        let json = #"""
            {"accepted":true,"attributes":{"mail":["b@x","c@x"]},"principals":[{"kind":"user","name":"bob"},\#
            {"kind":"group","name":"Staff"}],"realm":"people","server":"https://a.example","user":"bob"}
            """#
        #expect(report.json.text(.terminal) == json)
    }

    @Test(arguments: [
        #"{"outcome":"accepted",}"#, #"{"outcome":"accepted"}"#,
        #"{"outcome":"accepted","outcome":"refused","user":"ann"}"#,
        #"{"outcome":"accepted","reason":"wrong-credentials"}"#, Self.accepted(further: ","), Self.accepted() + "x",
        Self.accepted(further: #","outcome":"refused""#), Self.accepted(further: #","outcome":"accepted""#),
        Self.accepted(["reason": #""wrong-credentials""#]), Self.accepted(["reason": "7"]),
        Self.accepted(["user": nil]), Self.accepted(["user": #""""#]), Self.accepted(["user": "null"]),
        Self.accepted(["user": #"["ann"]"#]), Self.accepted(["user": #""a\nb""#]), Self.accepted(["user": "true"]),
        Self.accepted(["groups": nil]), Self.accepted(["groups": #""a""#]), Self.accepted(["groups": "[1]"]),
        Self.accepted(["principals": nil]), Self.accepted(["principals": #"[{"kind":"user"}]"#]),
        Self.accepted(["principals": #"{"a":{"kind":"user","name":"ann"}}"#]),
        Self.accepted(["principals": #"[{"kind":["user","user"],"name":"ann"},{"name":"bob"}]"#]),
        Self.accepted(["attributes": #"{"mail":1}"#]), Self.accepted(["attributes": #"["x"]"#]),
        Self.accepted(["outcome": #"["accepted"]"#]), Self.accepted(["outcome": #""Accepted""#]),
        #"{"outcome":"refused"}"#, #"{"outcome":"refused","reason":"x"}"#,
        #"{"outcome":"refused","reason":"accepted"}"#,
    ])
    func `an answer that is malformed or incomplete is no answer`(body: String) throws {
        let ended = try #require(throws: RemoteCheck.Ended.self) { try check(body) }
        #expect(ended.status == .undecided)
        #expect(ended.message.hasPrefix("the answer of https://a.example cannot be used: "), "\(ended.message)")
    }

    @Test func `an answer needs a media type of JSON`() throws {
        for type in [nil, "text/html"] {
            #expect(throws: RemoteCheck.Ended.self) { try check(Self.accepted(), type: type) }
        }
        #expect(try check(Self.accepted(), type: "application/json; charset=utf-8").status == .accepted)
    }

    @Test(arguments: [
        ("wrong-credentials", Status.refused), ("locked", .refused), ("internal-error", .undecided),
        ("unavailable", .undecided),
    ])
    func `a refusal has the status of its reason`(reason: String, expected: Status) throws {
        let report = try check(#"{"outcome":"refused","reason":"\#(reason)"}"#)
        #expect(report.status == expected && report.json["accepted"]?.asBoolean == false)
        #expect(report.json["reason"]?.asText == reason)
    }

    @Test(arguments: [400, 403, 500, 503])
    func `the error of a server is printed on one line`(status: Int) throws {
        let body = #"{"error":"a\naccepted: ann in realm people","reason":"b\nc"}"#
        let ended = try #require(throws: RemoteCheck.Ended.self) { try check(body, status: status) }
        let first = try #require(ended.message.split(separator: "\n").first)
        #expect(first.hasSuffix(": a\u{FFFD}accepted: ann in realm people, b\u{FFFD}c"), "\(ended.message)")
        #expect(ended.message.split(separator: "\n").dropFirst().allSatisfy { $0.hasPrefix("    hint: ") })
    }
}

extension HTTPSResponse {
    init(_ status: Int, _ body: String, type: String? = "application/json") {
        let fields = type.map { [(name: "Content-Type", value: $0)] } ?? []
        self.init(status: status, fields: fields, body: Array(body.utf8))
    }
}

// SPDX-License-Identifier: Apache-2.0

import Glibc
import OpenSSLKit
import RealmKit
import Testing

@testable import AuthcheckCommand
@testable import AuthcheckRemote
@testable import HTTPSClient

/// The exit status of `authcheck --server`, with answers in place of a server.
@Suite struct RemoteExitStatusTests {
    private static let realms = "{\"realms\":[{\"name\":\"people\",\"auth_type\":\"x\"}]}"
    private static let accepted =
        #"{"outcome":"accepted","user":"ann","groups":[],"principals":[{"kind":"user","name":"ann"}],"attributes":{}}"#
    private static let key = String(repeating: "0", count: 64)

    private func status(
        _ arguments: [String] = ["people", "ann"],
        realms: (Int, String) = (200, RemoteExitStatusTests.realms),
        answer: (Int, String),
        password: String = "secret"
    ) async throws -> Status {
        let input = try TemporaryFolder(["input": password + "\n"])
        let descriptor = unsafe open(input.path("input"), O_RDONLY)
        defer { close(descriptor) }
        let remote = RemoteAuthcheck { (request, _) throws(HTTPSClientError) in
            let (status, body) = request.method == "GET" ? realms : answer
            if status == 0 {
                throw HTTPSClientError(body == "untrusted" ? .certificateRejected : .connectionClosed, body)
            }
            return HTTPSResponse(status, body)
        }
        let options = ["--server", "https://a.example", "--pin", Self.key, "--quiet", "--password-stdin"]
        return await Authcheck.run(options + arguments, kinds: [], remote: remote, standardInput: descriptor)
    }

    @Test(arguments: [
        (200, RemoteExitStatusTests.accepted, Status.accepted),
        (200, "{\"outcome\":\"refused\",\"reason\":\"wrong-credentials\"}", .refused),
        (200, "{\"outcome\":\"maybe\"}", .undecided), (200, "{\"outcome\":true}", .undecided), (200, "", .undecided),
        (200, "accepted", .undecided), (200, "[{\"outcome\":\"accepted\"}]", .undecided),
        (201, "{\"outcome\":\"accepted\"}", .undecided), (302, "{\"outcome\":\"accepted\"}", .undecided),
        (400, "{\"error\":\"malformed\",\"reason\":\"x\"}", .undecided), (401, "", .configuration),
        (403, "{\"outcome\":\"accepted\"}", .configuration), (404, "", .undecided), (500, "", .undecided),
        (503, "{\"error\":\"unavailable\"}", .undecided), (0, "the connection was closed", .undecided),
        (0, "untrusted", .undecided),
    ])
    func `only an accepted outcome with status 200 is status 0`(code: Int, body: String, expected: Status) async throws
    {
        #expect(try await status(answer: (code, body)) == expected)
    }

    @Test func `a password that no server reads is refused without sending it`() async throws {
        let outage = (400, "{\"error\":\"malformed\"}")
        for password in [
            "sec\u{0}ret", "secret\n12\u{0}",
            String(repeating: "\u{1}", count: 4000) + "\n" + String(repeating: "\u{1}", count: 4000),
        ] {
            #expect(try await status(answer: outage, password: password) == .refused)
        }
        #expect(try await status(answer: outage) == .undecided)
    }

    @Test(arguments: [
        ([], 200, RemoteExitStatusTests.realms, Status.usage),
        (["people", ""], 200, RemoteExitStatusTests.realms, .usage),
        (["peple", "ann"], 200, RemoteExitStatusTests.realms, .configuration),
        (["people", "ann"], 200, "{\"realms\":[]}", .configuration), (["people", "ann"], 200, "<html>", .undecided),
        (["people", "ann"], 404, "", .undecided), (["people", "ann"], 401, "", .configuration),
        (["people", "ann"], 200, "{\"realms\":[{\"name\":\"people\",\"auth_type\":\"x\"}],}", .undecided),
        (["people", "ann"], 200, "{\"realms\":[{\"name\":\"people\"}]}", .undecided),
        (["people", "ann"], 200, "{\"realms\":[{\"name\":[\"people\"],\"auth_type\":\"x\"}]}", .undecided),
        (["--list"], 200, RemoteExitStatusTests.realms, .accepted), (["--list"], 503, "", .undecided),
        (["--list", "people"], 200, RemoteExitStatusTests.realms, .usage),
        (["--trace", "people", "ann"], 200, RemoteExitStatusTests.realms, .usage),
        (["--ca", "x", "people", "ann"], 200, RemoteExitStatusTests.realms, .usage),
        (["--token-file", "/nonexistent", "people", "ann"], 200, RemoteExitStatusTests.realms, .configuration),
        (["--config", "x", "people", "ann"], 200, RemoteExitStatusTests.realms, .usage),
    ])
    func `wrong arguments, unknown realms and other answers have their own status`(
        arguments: [String],
        code: Int,
        body: String,
        expected: Status
    ) async throws {
        #expect(try await status(arguments, realms: (code, body), answer: (200, Self.accepted)) == expected)
    }

    @Test func `a file of authorities without a certificate is a wrong configuration`() async throws {
        let folder = try TemporaryFolder(["empty": "", "key": "-----BEGIN PRIVATE KEY-----\n"])
        let remote = RemoteAuthcheck { (_, _) throws(HTTPSClientError) in throw HTTPSClientError(.connectionClosed, "")
        }
        for file in ["empty", "key", "missing"] {
            let arguments = ["--server", "https://a.example", "--quiet", "--ca", folder.path(file), "people", "ann"]
            #expect(await Authcheck.run(arguments, kinds: [], remote: remote) == .configuration, "\(file)")
        }
    }

    @Test func `options for a server need --server, and --server needs a client`() async throws {
        for option in [["--list"], ["--ca", "x"], ["--pin", "x"], ["--remember"], ["--code"], ["--token-file", "x"]] {
            #expect(await Authcheck.run(option + ["people", "ann"], kinds: []) == .usage)
        }
        #expect(await Authcheck.run(["--server", "https://a.example", "--list"], kinds: []) == .usage)
        for arguments in [[], ["people"]] { #expect(await Authcheck.run(arguments, kinds: []) == .usage) }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools
import Testing

/// `authcheck --server` with a running server and a terminal.
@Suite struct AuthcheckServerTests {
    private static let token = "7c0f1f1ea8b5d3c5a1e29d6b54d2f0a9"

    private let people: People

    init() throws {
        people = try People(
            People.configuration(
                passwords: "hash bcrypt cost=6;",
                server: """
                    throttle { delay 20ms; longest-delay 40ms; }
                    realm-api { client mail { realm people others; token "${file:mail.token}"; } }
                    """
            )
        )
        try people.folder.write("\(Self.token)\n", to: "mail.token")
    }

    private var configuration: String { people.folder.url.appendingPathComponent("config").path }
    private var knownServers: String { "\(configuration)/gatehouse/known_servers" }

    /// Returns the words of a command with its own folder for settings.
    private func words(_ server: RunningServer, _ arguments: [String]) -> [String] {
        ["XDG_CONFIG_HOME=\(configuration)", Program.built("authcheck").path, "--server", server.url] + arguments
    }

    private func authcheck(
        _ server: RunningServer,
        _ arguments: String...,
        input: String = ""
    ) async throws -> Finished {
        let environment = try #require(Program.system("env"))
        // `setsid` removes the terminal, if the tests run on one.
        let words = ["setsid", "-w", "env"] + words(server, arguments)
        return try await Program.run(environment, words, input: input, in: people.folder.url)
    }

    private func terminal(_ server: RunningServer, _ arguments: String...) throws -> PseudoTerminal {
        try PseudoTerminal(try #require(Program.system("env")), words(server, arguments), in: people.folder.url)
    }

    private func knownText() throws -> String { try String(contentsOfFile: knownServers, encoding: .utf8) }

    @Test func `with the authorities of the server, users are checked and realms are listed`() async throws {
        #expect(try await people.add("ann", "--group", "Staff").status == 0)
        let server = try await RunningServer(in: people.folder)
        let trusted = ["--ca", server.certificate, "--token-file", "mail.token"]
        let list = try await authcheck(server, trusted[0], trusted[1], trusted[2], trusted[3], "--list")
        #expect(list.status == 0 && list.output == "people  embedded store\nothers  embedded store\n")
        let right = try await authcheck(
            server,
            trusted[0],
            trusted[1],
            trusted[2],
            trusted[3],
            "--password-stdin",
            "--json",
            "people",
            "ann",
            input: People.password + "\n"
        )
        #expect(right.status == 0 && right.output.hasPrefix("{\"accepted\":true,"))
        #expect(right.output.contains("{\"kind\":\"group\",\"name\":\"Staff\"}"))
        let wrong = try await authcheck(
            server,
            trusted[0],
            trusted[1],
            trusted[2],
            trusted[3],
            "--password-stdin",
            "people",
            "ann",
            input: "wrong\n"
        )
        #expect(wrong.status == 1)
        #expect(wrong.output == "refused: ann in realm people of \(server.url): wrong credentials\n")
        let unknown = try await authcheck(server, "--ca", server.certificate, "--list")
        #expect(unknown.status == 3 && unknown.errors.contains("--token-file"))
        #expect(!FileManager.default.fileExists(atPath: knownServers))
        #expect(await server.end() == 0)
        #expect(!server.log.contains(People.password) && !server.log.contains(Self.token))
    }

    @Test func `without a terminal an unknown certificate is refused, and the message shows how to pin its key`()
        async throws
    {
        let server = try await RunningServer(in: people.folder)
        let refused = try await authcheck(server, "--token-file", "mail.token", "--list", "--remember")
        #expect(refused.status == 4)
        let pin = try #require(refused.errors.split(separator: " ").first { $0.hasPrefix("sha256//") }?.prefix(52))
        #expect(refused.errors.contains("--pin \(pin)"))
        #expect(!FileManager.default.fileExists(atPath: knownServers))
        let pinned = try await authcheck(server, "--token-file", "mail.token", "--list", "--pin", String(pin))
        #expect(pinned.status == 0)
        let other = String(repeating: "0", count: 64)
        let changed = try await authcheck(server, "--token-file", "mail.token", "--list", "--pin", other)
        #expect(changed.status == 4 && changed.errors.contains("HAS CHANGED"))
        #expect(await server.end() == 0)
    }

    @Test func `on a terminal the user decides about an unknown key, and a remembered key must not change`()
        async throws
    {
        #expect(try await people.add("ann").status == 0)
        let text = try String(contentsOf: people.folder.url.appendingPathComponent("realms.conf"), encoding: .utf8)
        try people.folder.write(
            text.replacing("127.0.0.1:0", with: "127.0.0.1:\(LoopbackPort.free())"),
            to: "realms.conf"
        )
        var server = try await RunningServer(in: people.folder)
        let question = "Do you trust this key? (yes, no, or the fingerprint): "
        for answer in ["no", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="] {
            let refused = try terminal(server, "--token-file", "mail.token", "--remember", "people", "ann")
            try await refused.answer(question, "\(answer)\n")
            #expect(try await refused.end() == 4)
            #expect(refused.output.contains("is not trusted"))
        }
        #expect(!FileManager.default.fileExists(atPath: knownServers))

        let first = try terminal(server, "--token-file", "mail.token", "--remember", "people", "ann")
        try await first.answer(question, "perhaps\n")
        let pin = try #require(first.shown.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("sha256//") })
        try await first.answer("Please type yes, no or the fingerprint: ", "\(pin)\n")
        try await first.answer("Password for ann: ", "\(People.password)\n")
        #expect(try await first.end() == 0)
        #expect(first.output.hasPrefix("accepted: ann in realm people"))
        #expect(!first.shown.contains(People.password))
        let line = try knownText()
        #expect(line.hasPrefix("\(server.url) pin=\(pin) user=ann token-file=/") && !line.contains(Self.token))
        #expect(!line.contains(People.password))

        // The key, the user and the token are remembered.
        let second = try terminal(server, "people")
        try await second.answer("Password for ann: ", "\(People.password)\n")
        #expect(try await second.end() == 0)

        // Another server at the same address.
        #expect(await server.end() == 0)
        for name in ["development-certificate.pem", "development-key.pem"] {
            try? FileManager.default.removeItem(at: people.folder.url.appendingPathComponent("var/\(name)"))
        }
        server = try await RunningServer(in: people.folder)
        let changed = try terminal(server, "people")
        #expect(try await changed.end() == 4)
        #expect(changed.output.contains("THE KEY OF \(server.url) HAS CHANGED"))
        #expect(changed.output.contains("\(knownServers):1"))
        #expect(!changed.shown.contains("Password"))
        #expect(try knownText() == line)
        #expect(await server.end() == 0)
    }

    @Test func `a remembered server whose certificate is not trusted any more is refused without a question`()
        async throws
    {
        let server = try await RunningServer(in: people.folder)
        // The entry of a server whose certificate was trusted by the authorities of the system.
        try FileManager.default.createDirectory(
            atPath: "\(configuration)/gatehouse",
            withIntermediateDirectories: true
        )
        let line = "\(server.url) user=ann\n"
        try line.write(toFile: knownServers, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: knownServers)
        let refused = try terminal(server, "--token-file", "mail.token", "--remember", "people")
        #expect(try await refused.end() == 4)
        #expect(refused.output.contains("THE CERTIFICATE OF \(server.url) IS NOT TRUSTED ANY MORE"))
        #expect(refused.output.contains("\(knownServers):1"))
        #expect(!refused.shown.contains("Do you trust this key?"))
        #expect(try knownText() == line)
        #expect(await server.end() == 0)
    }

    @Test func `a server that is not there, and a server without a realm API, are undecided`() async throws {
        let plain = try People()
        let server = try await RunningServer(in: plain.folder)
        let other = try await authcheck(server, "--ca", server.certificate, "--list")
        #expect(other.status == 4 && other.errors.contains("realm-api"))
        #expect(await server.end() == 0)
        let gone = try await authcheck(server, "--ca", server.certificate, "--list", "--json")
        #expect(gone.status == 4)
        #expect(gone.output.contains("\"accepted\":false") && gone.output.contains("\"reason\":\"unavailable\""))
    }
}
